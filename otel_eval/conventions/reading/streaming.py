"""Answers that were streamed: the pieces as they came, as messages or parts of their own, with or without the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_eval.conventions.reading.messages import calls_in
from otel_eval.interaction import Message, Part, TextPart


def whole(messages: Sequence[Message] | None) -> tuple[Message, ...] | None:
    """The last message alone where it says all that the ones before it said piece by piece; else all of them.

    Google ADK writes the partial responses of a LiteLLM model and then the whole one.
    """
    if messages is None or len(messages) < 2:
        return None if messages is None else tuple(messages)
    *pieces, last = messages
    if {message.role for message in messages} != {"assistant"}:
        return tuple(messages)
    said = "".join(piece.text or "" for piece in pieces)
    names = {(call.call_id, call.name) for call in calls_in(last)}
    asked = {(call.call_id, call.name) for piece in pieces for call in calls_in(piece)}
    if (last.text or "").strip() == said.strip() and asked <= names and (said or asked):
        return (last,)
    return tuple(messages)


def joined(message: Message) -> Message:
    """The message with text parts that follow one another in one, for frameworks that join them without a break."""
    parts: list[Part] = []
    for part in message.parts:
        last = parts[-1] if parts else None
        if isinstance(part, TextPart) and isinstance(last, TextPart):
            parts[-1] = replace(last, text=last.text + part.text)
        else:
            parts.append(part)
    return message if len(parts) == len(message.parts) else replace(message, parts=tuple(parts))
