"""Gemini CLI's traces: a user's prompt, model calls and scheduled tool calls with Gemini's own objects as messages.

Source: gemini-cli 0.30 (``packages/core/src/telemetry/trace.ts``). A tool's request and response objects stand in
``gen_ai.input.messages`` and ``gen_ai.output.messages``; prompts are written unless ``telemetry.logPrompts`` is off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otel_eval.conventions.content import Content
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.parts import tool_result_of
from otel_eval.conventions.trouble import failure_of, tool_error_of
from otel_eval.conventions.values import first_text, is_object, plain, text
from otel_eval.interaction import JsonValue
from otel_eval.signals import Span

SCOPE = "gemini-cli"
SETTING = "telemetry.logPrompts: true in Gemini CLI's settings.json"


def read(span: Span) -> Facts | None:
    """What the CLI's spans are where the semantic conventions do not tell."""
    if not span.scope.name.startswith(SCOPE):
        return None
    operation = span.attributes.get("gen_ai.operation.name")
    if operation == "user_prompt":
        return Facts(kind=Kind.AGENT, failure=failure_of(span), setting=SETTING)
    if operation == "tool_call":
        return _tool(span)
    if operation in ("system_prompt", "schedule_tool_calls"):
        return Facts(kind=Kind.OTHER)
    return Facts(kind=Kind.MODEL, setting=SETTING) if operation == "llm_call" else None


def _tool(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    request = _first_object(content.value("arguments", "gen_ai.input.messages"), ("args", "name", "callId"))
    answers = content.value("result", "gen_ai.output.messages")
    answer = _first_object(answers, ("responseParts", "callId", "error"))
    error = tool_error_of(span)
    result: JsonValue | Missing = MISSING
    if answer is not None:
        failed = answer.get("error")
        if error is None and failed not in (None, "", {}):
            error = str(failed.get("message") or failed) if is_object(failed) else str(failed)
        result = _result(answer.get("responseParts"))
    return Facts(
        kind=Kind.TOOL,
        tool=text(attributes.get("gen_ai.tool.name")) or (text(request.get("name")) if request else None),
        arguments=plain(request["args"]) if request is not None and "args" in request else MISSING,
        result=result,
        error=error,
        call_id=first_text(attributes, ("gen_ai.tool.call.id", "gen_ai.tool.call_id")),
        input=(),
        output=(),
        marks=content.marks,
        setting=SETTING,
    )


def _first_object(value: Any, keys: Iterable[str]) -> dict[str, Any] | None:
    """The object, or the first of a list, that has one of the keys."""
    for item in value if isinstance(value, list) else [value]:
        if is_object(item):
            inner = item.get("request", item) if is_object(item.get("request")) else item
            if any(key in inner for key in keys):
                return inner
    return None


def _result(parts: Any) -> JsonValue | Missing:
    for part in parts if isinstance(parts, list) else [parts]:
        if is_object(part) and is_object(part.get("functionResponse")):
            found = tool_result_of(part).result
            return MISSING if found is None else found
    return MISSING


CONVENTION = Convention(name="gemini-cli", read=read, scopes=(SCOPE,))
