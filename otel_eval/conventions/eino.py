"""CloudWeGo's Eino for Go, through the callbacks of eino-ext that write spans: ``apmplus``, ``tls`` and ``otel``.

Every component of a graph is a span; ``runinfo.component`` says which. ``apmplus`` writes texts as ``gen_ai.prompt.N`` and
``gen_ai.completion.N``, leaves messages without one out, and writes as JSON in the first what holds no text at all: the
calls that a model asks for, a tool's arguments and result, a graph's own input. The outermost component is a ``workflow``
and has ``gen_ai.input`` and ``gen_ai.output`` besides. ``tls`` writes the messages as the semantic conventions do and
sums them up in ``gen_ai.prompt.N``; its outermost component is a ``CHAIN`` and what one takes and gives stands in
``input.value`` and ``output.value``. None has a switch: ``apmplus`` and ``tls`` always write content, ``otel``
never. What ``langfuse`` (its second version) writes is Langfuse's; what ``cozeloop`` sends is no OTLP.
Source: eino-ext callbacks/apmplus 0.0.2, callbacks/tls and callbacks/otel (2026), eino 0.7.36.
"""

from __future__ import annotations

import json
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.payloads import Payload, input_of, output_of
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, plain, text, unflatten
from otel_eval.interaction import JsonValue, Message
from otel_eval.signals import Span

SCOPE = "github.com/cloudwego/eino-ext/callbacks/"

_OUTERMOST = frozenset({"workflow", "CHAIN"})
"""``gen_ai.span.kind`` of the outermost component. ``tls`` puts a ``CHAIN`` around a model or tool that is called alone."""

KINDS: dict[str, Kind] = {
    "ChatModel": Kind.MODEL,
    "AgenticModel": Kind.MODEL,
    "Tool": Kind.TOOL,
    "Agent": Kind.AGENT,
    "AgenticAgent": Kind.AGENT,
    "Graph": Kind.STEP,
    "Chain": Kind.STEP,
    "Workflow": Kind.STEP,
    "ToolsNode": Kind.STEP,
    "AgenticToolsNode": Kind.STEP,
}
"""All else (templates, retrievers, functions) says nothing of an agent, unless it is outermost."""

_NAMELESS = frozenset({*KINDS, "ReAct", "ReActAgent", "Lambda", "unset"})
"""Names that Eino gives to what the program gave none."""


def read(span: Span) -> Facts | None:
    """What the callbacks say beyond the semantic conventions."""
    attributes = span.attributes
    component = attributes.get("runinfo.component")
    if component is None:
        return _plain(span) if span.scope.name == f"{SCOPE}otel" else None
    kind = KINDS.get(str(component), Kind.OTHER)
    role = attributes.get("gen_ai.span.kind")
    if role in _OUTERMOST and (kind in (Kind.STEP, Kind.OTHER) or (kind is not Kind.AGENT and role == "CHAIN")):
        kind = Kind.WORKFLOW
    if kind is Kind.OTHER:
        return Facts(kind=kind)
    if kind is Kind.STEP:
        return Facts(kind=kind, input=(), output=(), failure=failure_of(span))
    content = Content.of(span)
    if kind is Kind.MODEL:
        return _model(span, content)
    return _tool(span, content) if kind is Kind.TOOL else _agent(span, kind, content)


def _plain(span: Span) -> Facts | None:
    """``otel`` has a span's kind alone: a node that runs tools, which has no type, is called a tool as they are."""
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if operation == "execute_tool" and "gen_ai.system" not in attributes:
        return Facts(kind=Kind.STEP, failure=failure_of(span))
    if operation == "invoke_agent":
        return Facts(kind=Kind.AGENT, weak_agent=_name(span.name), failure=failure_of(span))
    return None


def _name(name: Any) -> str | None:
    return None if name in _NAMELESS else text(name)


def _agent(span: Span, kind: Kind, content: Content) -> Facts:
    attributes = span.attributes
    taken, given = _payload(content, "input"), _given(content)
    return Facts(
        kind=kind,
        agent=_name(attributes.get("runinfo.name")) if kind is Kind.AGENT else None,
        weak_agent=_name(attributes.get("runinfo.name")),
        input=taken.messages or (),
        asked=taken.text,
        output=given.messages or (),
        reply=given.text,
        failure=failure_of(span),
        marks=content.marks,
    )


def _payload(content: Content, field: str) -> Payload:
    """What went in: messages, a text, or an object of the program's or of Eino's ADK's (``Messages``)."""
    value = _streamed(content.value(field, "gen_ai.input", "input.value", twice=False))
    if isinstance(value, list) and len(value) == 1 and is_object(value[0]) and "role" not in value[0]:
        value = value[0]  # a stream of one piece
    if value is MISSING or value is None:
        return Payload()
    if is_object(value) and isinstance(value.get("Messages"), list):
        value = value["Messages"]
    return input_of(value)


def _given(content: Content) -> Payload:
    value = _streamed(content.value("output", "gen_ai.output", "output.value", twice=False))
    return Payload() if value is MISSING or value is None else output_of(value)


def _streamed(value: Any) -> Any:
    """What ``tls`` puts around the pieces of a stream is taken off, and the pieces of a message are joined."""
    inner = value["stream"] if is_object(value) and set(value) == {"stream"} else value
    return value if inner is value else _whole(inner)


def _whole(value: Any) -> Any:
    """The pieces of a streamed answer as the one message that they are; all else as it is."""
    pieces = value if isinstance(value, list) else []
    if pieces and all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    if len(pieces) < 2 or not all(is_object(piece) and piece.get("role") in ("assistant", "") for piece in pieces):
        return value
    whole: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(text(piece.get("content")) or "" for piece in pieces),
    }
    parts = [part for piece in pieces for part in piece.get("parts") or () if is_object(part)]
    if parts:
        whole["parts"] = _joined(parts)
    calls = [call for piece in pieces for call in piece.get("tool_calls") or () if is_object(call)]
    if calls:
        whole["tool_calls"] = _joined(calls)
    return [whole]


def _joined(pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts or calls of which a piece without a name or an id carries on the one before."""
    whole: list[dict[str, Any]] = []
    for piece in pieces:
        function = piece["function"] if is_object(piece.get("function")) else piece
        key = next((key for key in ("content", "text") if key in piece), "arguments")
        new = piece.get("id") or function.get("name") or (whole and whole[-1].get("type") != piece.get("type"))
        if new or not whole:
            whole.append({**piece, "function": dict(function)} if function is not piece else dict(piece))
            continue
        last = whole[-1]["function"] if is_object(whole[-1].get("function")) else whole[-1]
        last[key] = _spelled(last.get(key)) + _spelled(function.get(key))
    return whole


def _spelled(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _model(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    return Facts(
        kind=Kind.MODEL,
        input=_said(content, "input", "gen_ai.prompt.", "user") or None,
        output=_said(content, "output", "gen_ai.completion.", "assistant") or None,
        model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model")),
        finish_reasons=tuple(filter(None, [text(attributes.get("gen_ai.response.finish_reason"))])),
        usage=usage_of(attributes),
        failure=failure_of(span),
        marks=content.marks,
    )


def _said(content: Content, field: str, prefix: str, role: str) -> tuple[Message, ...]:
    key = f"gen_ai.{field}.messages"
    if key in content.attributes:
        value = content.value(field, key, twice=False)
        return () if value is MISSING else read_messages(_whole(value) if field == "output" else value, role)
    if any(key.startswith(prefix) for key in content.attributes):
        content.flattened(field)
    return _texts(content, field, prefix, role)


def _texts(content: Content, field: str, prefix: str, role: str) -> tuple[Message, ...]:
    """The messages that have a text; else all of them, which stand as JSON in the place of the first."""
    items = [item for item in unflatten(content.attributes, prefix) if is_object(item)]
    for item in items:
        content.hidden(field, item.get("content"))
    if len(items) == 1:
        whole = content.value(field, f"{prefix}0.content", twice=False)
        if isinstance(whole, list) and whole and all(is_object(each) and "role" in each for each in whole):
            return read_messages(whole, role)
    return read_messages(items, role)


def _tool(span: Span, content: Content) -> Facts:
    given = _spoken(content, "arguments", "ArgumentsInJSON", "gen_ai.tool.call.arguments", "gen_ai.prompt.0.content")
    gave = _spoken(content, "result", "Response", "gen_ai.tool.call.result", "gen_ai.completion.0.content")
    call = text(span.attributes.get("gen_ai.tool_call.id"))  # the span's own where Eino knows of none
    result: JsonValue | Missing = MISSING if gave is MISSING else result_value(gave)
    return Facts(
        kind=Kind.TOOL,
        tool=text(span.attributes.get("runinfo.name")) or span.name or None,
        arguments=MISSING if given is MISSING else plain(decode_leniently(given)),
        call_id=None if call == span.span_id else call,
        result=result,
        error=tool_error_of(span) or (None if result is MISSING else error_in_result(result)),
        input=(),
        output=(),
        marks=content.marks,
    )


def _spoken(content: Content, field: str, inner: str, *keys: str) -> Any:
    """A tool's text, which is JSON in quotes, in an object around it, or in the pieces of a stream."""
    value = content.value(field, *keys, twice=False)
    pieces = [each.get(inner, each) if is_object(each) else each for each in value] if isinstance(value, list) else []
    if pieces and all(isinstance(each, str) for each in pieces):
        return "".join(pieces)
    return value.get(inner, value) if is_object(value) else value


CONVENTION = Convention(name="eino", read=read, prefixes=("runinfo.",), scopes=(SCOPE,))
