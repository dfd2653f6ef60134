"""Codex, OpenAI's coding agent: spans of its own program, what was said in its log records.

``session_task.turn`` is one invocation, ``handle_responses`` one answer of the model with its tokens, and a span with
``codex.tool.phase`` ``dispatch`` one tool call. What was asked (``codex.user_prompt``), and what a tool took and gave
(``codex.tool_result``), stand in log records under spans within; their twins in span events leave the content out. The
reply is written nowhere until a version after 0.171, which has a switch for it (``codex.agent_response``).
Source: codex 0.171.0 (``codex-rs/otel/src/events/session_telemetry.rs``, ``otel/src/tool_result.rs``) and its main branch
of November 2026 (``otel/src/agent_response.rs``).
"""

from __future__ import annotations

import re

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import failure_of, tool_error_of
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import first_text, text
from otel_eval.interaction import GapKind, JsonValue, Message, TextPart
from otel_eval.signals import LogRecord, Span

SCOPES = ("codex", "Codex ")
"""Of spans it is the program's (``codex_exec``, ``codex-app-server``, ``Codex Desktop``), of records
``codex_otel.log_only``."""
NAME = "codex"
SETTING = (
    "[otel] log_user_prompt = true, log_agent_responses = true, exporter and trace_exporter = { otlp-http = … } "
    "in Codex's config.toml"
)

_TURN = "codex.turn.token_usage."
USAGE_KEYS = {
    "input_tokens": (f"{_TURN}input_tokens",),
    "output_tokens": (f"{_TURN}output_tokens",),
    "cache_read_tokens": (f"{_TURN}cached_input_tokens",),
    "cache_write_tokens": (f"{_TURN}cache_write_input_tokens",),
    "reasoning_tokens": (f"{_TURN}reasoning_output_tokens",),
}
MODEL_USAGE_KEYS = {
    "input_tokens": ("gen_ai.usage.input_tokens",),
    "output_tokens": ("gen_ai.usage.output_tokens",),
    "cache_read_tokens": ("gen_ai.usage.cache_read.input_tokens",),
    "cache_write_tokens": ("gen_ai.usage.cache_write.input_tokens",),
    "reasoning_tokens": ("codex.usage.reasoning_output_tokens",),
}
_FRAME = re.compile(r"\AWall time: [\d.]+ seconds\nOutput:\n")
"""What Codex puts before the output of MCP servers' tools."""
_TAIL = 48


def read(span: Span) -> Facts | None:
    """What the span says; None for spans of other programs. Most of Codex's are the inside of one of these."""
    if not span.scope.name.startswith(SCOPES):
        return None
    attributes = span.attributes
    if span.name == "session_task.turn" or f"{_TURN}input_tokens" in attributes:
        return Facts(
            kind=Kind.AGENT,
            weak_agent=NAME,
            model=text(attributes.get("model")),
            usage=usage_of(attributes, USAGE_KEYS),
            aggregated=True,
            failure=failure_of(span),
            setting=SETTING,
        )
    if attributes.get("codex.tool.phase") == "dispatch":
        return _dispatch(span)
    if "gen_ai.usage.input_tokens" in attributes:
        usage = usage_of(attributes, MODEL_USAGE_KEYS)
        return Facts(kind=Kind.MODEL, usage=usage, failure=failure_of(span), setting=SETTING)
    if span.name == "run_turn":
        return Facts(kind=Kind.STEP, session=text(attributes.get("conversation.id")), setting=SETTING)
    return Facts(kind=Kind.OTHER)


def _dispatch(span: Span) -> Facts:
    # the span's own name is that of an MCP server's tool with the server's stuck to it
    named = next((found for event in span.events if (found := text(event.attributes.get("tool_name")))), None)
    return Facts(
        kind=Kind.TOOL,
        tool=named or first_text(span.attributes, ("tool_name",)) or span.name,
        error=tool_error_of(span),
        call_id=text(span.attributes.get("call_id")),
        setting=SETTING,
    )


def read_log(record: LogRecord) -> Facts | None:
    """What a record of Codex's says of the turn or of the tool call within which it was written."""
    if not record.scope.name.startswith(SCOPES):
        return None
    attributes = record.attributes
    match attributes.get("event.name"):  # the record's own is a place in the source
        case "codex.user_prompt":
            return _asked(Content(attributes))
        case "codex.tool_result":
            return _tool(Content(attributes))
        case "codex.agent_response":
            return _answered(Content(attributes))
    return None


def _asked(content: Content) -> Facts:
    raw = content.attributes.get("prompt")
    said = raw if isinstance(raw, str) and raw and not content.hidden("input", raw) else None
    return Facts(
        kind=Kind.STEP,
        session=text(content.attributes.get("conversation.id")),
        input=None if said is None else (Message(role="user", parts=(TextPart(text=said),)),),
        marks=content.marks,
        setting=SETTING,
    )


def _answered(content: Content) -> Facts:
    """The turn's final answer, wherever within the turn the record was written."""
    raw = content.attributes.get("response")
    said = raw if isinstance(raw, str) and raw and not content.hidden("output", raw) else None
    cut = said is not None and content.attributes.get("response_truncated") in (True, "true")
    return Facts(
        kind=Kind.STEP,
        session=text(content.attributes.get("conversation.id")),
        output=None if said is None else (Message(role="assistant", parts=(TextPart(text=said),)),),
        reply=said,
        marks=content.marks,
        cut=(said[-_TAIL:],) if said is not None and cut else (),
        setting=SETTING,
    )


def _tool(content: Content) -> Facts:
    attributes = content.attributes
    result = _output(content)
    failed = attributes.get("success") in (False, "false")
    return Facts(
        kind=Kind.TOOL,
        tool=text(attributes.get("tool_name")),
        arguments=content.json("arguments", "arguments"),
        result=MISSING if failed else result,
        error=(str(result) if result is not MISSING else "success is false") if failed else None,
        call_id=text(attributes.get("call_id")),
        marks=content.marks,
        setting=SETTING,
    )


def _output(content: Content) -> JsonValue | Missing:
    attributes = content.attributes
    raw = attributes.get("output")
    if not isinstance(raw, str) or content.hidden("result", raw):
        return MISSING
    if attributes.get("output_truncated") in (True, "true"):
        content.mark("result", GapKind.TRUNCATED)
    return result_value(_FRAME.sub("", raw) if text(attributes.get("mcp_server")) is not None else raw)


CONVENTION = Convention(name="codex", read=read, scopes=SCOPES, read_log=read_log)
