"""Claude Code, and the Claude Agent SDK, which runs it: ``claude_code.interaction``, ``.llm_request`` and ``.tool``.

``span.type`` says what a span is, with or without the prefix. Content is ``<REDACTED>`` until it is switched on. The reply
stands in the model's calls alone (``response.model_output``) or in log records (:mod:`.claude_code_logs`), a tool's result
in the event ``tool.output``, its error on ``tool.execution`` below it. A subagent runs inside the execution of ``Agent``.
Source: claude-code 2.x in claude-agent-sdk 0.2.189, mlflow 3.17.2 (its translation of these spans) and
https://code.claude.com/docs/en/monitoring-usage, 2026-11.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.claude_code_logs import SCOPE, read_log
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import USAGE_KEYS, Content, usage_of
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import first_text, number, text
from otel_eval.interaction import GapKind, JsonValue, Message, TextPart, Usage
from otel_eval.signals import Span

SETTING = (
    "OTEL_LOG_USER_PROMPTS=1 OTEL_LOG_ASSISTANT_RESPONSES=1 OTEL_LOG_TOOL_DETAILS=1 OTEL_LOG_TOOL_CONTENT=1 "
    "OTEL_LOGS_EXPORTER=otlp"  # the arguments of MCP servers' tools, and the reply, stand in records alone
)

_PREFIX = "claude_code."
KINDS: dict[str, Kind] = {"interaction": Kind.AGENT, "llm_request": Kind.MODEL, "tool": Kind.TOOL}
"""All else (waiting for the user, a tool's execution, hooks, the start of a subagent) is part of one of these."""
EXECUTION = "tool.execution"
NAME = "claude_code"
"""For agents, which have no name there: what its spans' names begin with."""

_DETAILS = ("full_command", "file_path", "skill_name", "subagent_type", "command")
_RESULT_KEYS = ("output", "content", "diff")


def read(span: Span) -> Facts | None:
    """What the span says; None for a span that is not Claude Code's."""
    if not (span.name.startswith(_PREFIX) or span.scope.name.startswith(SCOPE)):
        return None
    name = (text(span.attributes.get("span.type")) or span.name).removeprefix(_PREFIX)
    kind = KINDS.get(name, Kind.OTHER)
    if kind is Kind.OTHER:
        return _execution(span) if name == EXECUTION and span.status == "error" else Facts(kind=kind)
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    return _model(span, content) if kind is Kind.MODEL else _interaction(span, content)


def _shown(content: Content, field: str, key: str) -> str | None:
    raw = content.attributes.get(key)
    if not isinstance(raw, str) or not raw or content.hidden(field, raw):
        return None
    if content.attributes.get(f"{key}_truncated") is True:
        content.mark(field, GapKind.TRUNCATED)
    return raw


def _interaction(span: Span, content: Content) -> Facts:
    return Facts(
        kind=Kind.AGENT,
        agent=text(span.attributes.get("gen_ai.agent.name")),
        weak_agent=NAME,
        asked=_shown(content, "input", "user_prompt"),
        prompt=_shown(content, "input", "new_context"),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _model(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    said = _shown(content, "output", "response.model_output")
    return Facts(
        kind=Kind.MODEL,
        output=None if said is None else (Message(role="assistant", parts=(TextPart(text=said),)),),
        system=_shown(content, "system", "user_system_prompt"),
        model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model", "model")),
        response_id=first_text(attributes, ("gen_ai.response.id", "request_id")),
        usage=_usage(attributes),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _usage(attributes: Any) -> Usage:
    """The standard's counts; else the bare ones, whose input leaves out what was cached."""
    usage = usage_of(attributes, USAGE_KEYS)
    bare = number(attributes.get("input_tokens"))
    if usage != Usage() or bare is None:
        return usage
    read_, written = number(attributes.get("cache_read_tokens")), number(attributes.get("cache_creation_tokens"))
    return Usage(
        input_tokens=bare + (read_ or 0) + (written or 0),
        output_tokens=number(attributes.get("output_tokens")),
        cache_read_tokens=read_,
        cache_write_tokens=written,
    )


def _tool(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    result = _result(span, content)
    error = tool_error_of(span)
    if error is None and attributes.get("success") in (False, "false"):
        error = text(attributes.get("error")) or (str(result) if result is not MISSING else "success is false")
    if error is None and result is not MISSING:
        error = error_in_result(result)
    return Facts(
        kind=Kind.TOOL,
        tool=first_text(attributes, ("tool_name", "gen_ai.tool.name")),
        arguments=_arguments(content),
        result=result,
        error=error,
        call_id=first_text(attributes, ("gen_ai.tool.call.id", "tool_use_id")),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _execution(span: Span) -> Facts:
    """One that failed: a part of its tool's span, which says that all is well."""
    return Facts(
        kind=Kind.TOOL,
        call_id=first_text(span.attributes, ("gen_ai.tool.call.id", "tool_use_id")),
        error=text(span.attributes.get("error")) or tool_error_of(span),
        setting=SETTING,
    )


def _arguments(content: Content) -> JsonValue | Missing:
    """All of them, or the few that stand in attributes of their own: then they are not whole."""
    told = content.json("arguments", "tool_input", "gen_ai.tool.call.arguments")
    if told is not MISSING:
        return told
    details = {key: value for key in _DETAILS if (value := text(content.attributes.get(key))) is not None}
    if not details:
        return MISSING
    content.mark("arguments", GapKind.TRUNCATED)
    return dict(details)


def _result(span: Span, content: Content) -> JsonValue | Missing:
    for event in span.events:
        if event.name == "tool.output":
            for key in _RESULT_KEYS:
                raw = event.attributes.get(key)
                if raw is None or content.hidden("result", raw):
                    continue
                if event.attributes.get(f"{key}_truncated") is True:
                    content.mark("result", GapKind.TRUNCATED)
                return result_value(raw)
    return content.result("result", "gen_ai.tool.call.result")


CONVENTION = Convention(
    name="claude-code",
    read=read,
    prefixes=("interaction.sequence", "user_prompt", "span.type"),
    scopes=(SCOPE,),
    read_log=read_log,
)
