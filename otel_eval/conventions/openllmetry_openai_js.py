"""OpenAI's Responses API in JavaScript under OpenLLMetry: the whole input in the text of one message.

A list of items stands as JSON in the one text part of a user's message, and an answer that calls tools as an empty text with
the finish reason ``stop``; its calls are in the input of the call after it, unless that goes on from a
``previous_response_id``, which is not written.
Source: @traceloop/instrumentation-openai 0.22 to 0.27.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import TOOL_CALLS, Convention, Facts, Kind, Mark
from otel_eval.conventions.openllmetry import JS_SETTING as SETTING
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import decode_leniently, is_object
from otel_eval.interaction import GapKind, Message
from otel_eval.signals import Span

_SCOPE = "@traceloop/instrumentation-openai"
_RESPONSE = "resp_"
"""Begins the ids of that API's answers."""


def read(span: Span) -> Facts | None:
    """The items as messages, and no answer where the text is empty; None for another API's calls."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    items = _items(decode_leniently(span.attributes.get("gen_ai.input.messages")))
    if items is None and not str(span.attributes.get("gen_ai.response.id")).startswith(_RESPONSE):
        return None
    said = read_messages(decode_leniently(span.attributes.get("gen_ai.output.messages")) or (), "assistant")
    unsaid = bool(said) and not _says(said)
    return Facts(
        kind=Kind.MODEL,
        input=None if items is None else read_messages(items) or None,
        output=() if unsaid else None,
        marks=tuple(Mark(field=field, kind=GapKind.NOT_CAPTURED) for field in ("output", TOOL_CALLS) if unsaid),
        setting=SETTING,
    )


def _items(messages: Any) -> list[Any] | None:
    """The list that is the only text of the only message."""
    if not (isinstance(messages, list) and len(messages) == 1 and is_object(messages[0])):
        return None
    parts = messages[0].get("parts")
    if not (isinstance(parts, list) and len(parts) == 1 and is_object(parts[0])):
        return None
    items = decode_leniently(parts[0].get("content"))
    return items if isinstance(items, list) and items and all(_is_item(item) for item in items) else None


def _is_item(item: Any) -> bool:
    return is_object(item) and (("role" in item and "content" in item) or isinstance(item.get("type"), str))


def _says(messages: tuple[Message, ...]) -> bool:
    return any(message.text for message in messages)


CONVENTION = Convention(name="openllmetry-openai-js", read=read, scopes=(_SCOPE,))
