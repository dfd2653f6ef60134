"""Gemini CLI's traces: a user's prompt, model calls and scheduled tool calls with Gemini's own objects as messages.

A tool's request and response objects stand in ``gen_ai.input.messages`` and ``gen_ai.output.messages``. In 0.61 spans hold
content with ``telemetry.traces`` alone, each span is a trace of its own where no user types, and what the model was sent
stands in log records, too (``gemini_cli.api_request``); what it answered, in records that name no span.
Source: gemini-cli 0.30 (``packages/core/src/telemetry/trace.ts``) and 0.61.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, tool_error_of
from otel_eval.conventions.reading.parts import result_value, tool_result_of
from otel_eval.conventions.reading.values import first_text, is_object, plain, text
from otel_eval.interaction import JsonValue, Message, Part, TextPart, ToolResultPart
from otel_eval.signals import LogRecord, Span

SCOPE = "gemini-cli"
_OPENING, _CLOSING = "<untrusted_context>\n", "\n</untrusted_context>"
SETTING = "telemetry: {logPrompts: true, traces: true} in Gemini CLI's settings.json"


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
    return _model(span) if operation == "llm_call" else None


def _model(span: Span) -> Facts:
    """What the model said came in a stream, and each piece of it stands as a message of its own."""
    content = Content.of(span)
    said = content.messages("output", "gen_ai.output.messages", role="assistant")
    parts: list[Part] = []
    for part in (part for message in said or () for part in message.parts):
        last = parts[-1] if parts else None
        if isinstance(last, TextPart) and isinstance(part, TextPart):
            parts[-1] = TextPart(text=last.text + part.text)
        else:
            parts.append(part)
    return Facts(
        kind=Kind.MODEL,
        input=_sent(content, "gen_ai.input.messages"),
        output=(Message(role="assistant", parts=tuple(parts)),) if parts else said,
        marks=content.marks,
        setting=SETTING,
    )


def _sent(content: Content, key: str) -> tuple[Message, ...] | None:
    told = content.messages("input", key)
    return None if told is None else tuple(map(_without_tags, told))


def _without_tags(message: Message) -> Message:
    parts = [
        replace(part, result=_trusted(part.result)) if isinstance(part, ToolResultPart) else part
        for part in message.parts
    ]
    return replace(message, parts=tuple(parts))


def _tool(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    request = _first_object(content.value("arguments", "gen_ai.input.messages"), "request", ("args", "name", "callId"))
    answers = content.value("result", "gen_ai.output.messages")
    answer = _first_object(answers, "response", ("responseParts", "callId", "error"))
    error = tool_error_of(span)
    result: JsonValue | Missing = MISSING
    if answer is not None:
        failed = answer.get("error")
        if error is None and failed not in (None, "", {}):
            error = str(failed.get("message") or failed) if is_object(failed) else str(failed)
        result = _result(answer.get("responseParts"))
        if is_object(result) and result.keys() == {"error"}:
            error, result = error or str(result["error"]), MISSING
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


def _first_object(value: Any, within: str, keys: Iterable[str]) -> dict[str, Any] | None:
    """The object, or what it holds under ``within``, or the first such of a list, that has one of the keys."""
    for item in value if isinstance(value, list) else [value]:
        if is_object(item):
            inner = item[within] if is_object(item.get(within)) else item
            if any(key in inner for key in keys):
                return inner
    return None


def _result(parts: Any) -> JsonValue | Missing:
    for part in parts if isinstance(parts, list) else [parts]:
        if is_object(part) and is_object(part.get("functionResponse")):
            found = tool_result_of(part).result
            return MISSING if found is None else _trusted(found)
    return MISSING


def _trusted(result: JsonValue) -> JsonValue:
    """Without the tags that the CLI puts around what the tools of MCP servers give (0.61)."""
    said = result.get("output") if is_object(result) and len(result) == 1 else result
    if isinstance(said, str) and said.startswith(_OPENING) and said.endswith(_CLOSING):
        return result_value(said[len(_OPENING) : -len(_CLOSING)])
    return result


def read_log(record: LogRecord) -> Facts | None:
    """What the model was sent, of a record that names the call's span; None for other records."""
    if not record.scope.name.startswith(SCOPE) or record.event_name != "gemini_cli.api_request":
        return None
    content = Content(record.attributes)
    return Facts(kind=Kind.MODEL, input=_sent(content, "request_text"), marks=content.marks, setting=SETTING)


CONVENTION = Convention(name="gemini-cli", read=read, scopes=(SCOPE,), read_log=read_log)
