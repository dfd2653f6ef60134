"""Sentry's SDKs: the semantic conventions' operations, with what was said in attributes of Sentry's own.

``gen_ai.response.text`` and ``gen_ai.response.tool_calls`` are the output, ``gen_ai.request.messages`` the input of
spans by hand, ``gen_ai.tool.input`` and ``gen_ai.tool.output`` a tool's values; ``sentry.op`` says what a span is
where the operation does not. Histories keep the model's messages without the tools that it asked for.
Source: @sentry/node 10.78.0 with another span processor beside Sentry's, and Sentry's attributes for manual instrumentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai_operations import kind_of
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.messages import calls_in, read_message, read_messages
from otel_eval.conventions.reading.values import decode_leniently, is_object
from otel_eval.interaction import Message, Part, TextPart
from otel_eval.signals import Span

SETTING = "recordInputs: true and recordOutputs: true of Sentry's integration, or sendDefaultPii: true"

_OPERATIONS: dict[str, Kind] = {
    "gen_ai.invoke_agent": Kind.AGENT,
    "gen_ai.execute_tool": Kind.TOOL,
    "gen_ai.handoff": Kind.HANDOFF,
    "gen_ai.create_agent": Kind.OTHER,
    "gen_ai.chat": Kind.MODEL,
}


def read(span: Span) -> Facts | None:
    """What the span says in Sentry's attributes; None for spans that have nothing to do with agents."""
    attributes = span.attributes
    operation = attributes.get("sentry.op")
    if not isinstance(operation, str) or not operation.startswith("gen_ai."):
        return None
    if "langchain.chain.name" in attributes:
        return Facts(kind=Kind.STEP)  # every chain is called an agent
    kind = kind_of(span) or _OPERATIONS.get(operation)
    if kind is None or kind is Kind.OTHER:
        return None if kind is None else Facts(kind=kind)
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    said = _said(content)
    return Facts(
        kind=kind,
        input=_langchain(content) or content.messages("input", "gen_ai.request.messages"),
        output=said,
        reply=_reply(said) if kind is Kind.AGENT else None,
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _langchain(content: Content) -> tuple[Message, ...] | None:
    """LangChain.js's messages, of which contents in several parts are JSON, also that of an answer without any: ``[]``.

    Else nothing: such messages need no reading of their own.
    """
    raw = content.attributes.get("gen_ai.input.messages")
    if content.attributes.get("sentry.origin") != "auto.ai.langchain" or not isinstance(raw, str):
        return None
    told = decode_leniently(raw)
    if not isinstance(told, list) or '"content":"[' not in raw:
        return None
    return read_messages([_parted(message) if is_object(message) else message for message in told]) or None


def _parted(message: Mapping[str, Any]) -> Mapping[str, Any]:
    parts = decode_leniently(message.get("content"))
    is_parts = isinstance(parts, list) and all(is_object(part) and "type" in part for part in parts)
    return {**message, "content": parts} if is_parts and (parts or message.get("role") == "assistant") else message


def _said(content: Content) -> tuple[Message, ...] | None:
    """The text, a list of texts, or of a graph all that was said in its run; and the calls, of a graph all of them."""
    told = content.value("output", "gen_ai.response.text")
    if isinstance(told, list) and any(is_object(item) and "role" in item for item in told):
        return read_messages(told, "assistant") or None
    text = _text(content)
    calls = content.value("output", "gen_ai.response.tool_calls")
    asked = read_message({"role": "assistant", "tool_calls": _once(calls)}) if isinstance(calls, list) else None
    parts: list[Part] = [] if asked is None else list(calls_in(asked))
    if text is not None and (text or not parts):
        parts.insert(0, TextPart(text=text))
    return (Message(role="assistant", parts=tuple(parts)),) if parts else None


def _once(calls: list[Any]) -> list[Any]:
    """Of a stream of Gemini's, each call stands there twice: as the API has it, with ``args``, and once more in OpenAI's
    shape, with ``arguments`` (``google-genai/streaming.ts``).
    """
    own = [call for call in calls if is_object(call) and "args" in call]
    return own or calls


def _text(content: Content) -> str | None:
    raw = content.attributes.get("gen_ai.response.text", content.attributes.get("gen_ai.response.object"))
    told = decode_leniently(raw)
    if isinstance(told, list) and all(isinstance(item, str) for item in told):
        return told[0] if told else None  # one for each choice
    return raw if isinstance(raw, str) and not content.hidden("output", raw) else None


def _reply(said: tuple[Message, ...] | None) -> str | None:
    last = said[-1] if said else None
    return last.text if last is not None and last.role == "assistant" else None


def _tool(span: Span, content: Content) -> Facts:
    result = content.result("result", "gen_ai.tool.output")
    return Facts(
        kind=Kind.TOOL,
        arguments=content.json("arguments", "gen_ai.tool.input"),
        result=result,
        error=tool_error_of(span) or error_in_result(decode_leniently(result)),
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(name="sentry", read=read, prefixes=("sentry.op",))
