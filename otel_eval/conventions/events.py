"""Messages in events: on a span, or as log records that name the span, in the three forms that GenAI events had.

=====  ============================================================================  ==================================
form   events                                                                        content
=====  ============================================================================  ==================================
G1     ``gen_ai.content.prompt``, ``gen_ai.content.completion`` (1.26-1.27)           attributes, JSON or text
G2     ``gen_ai.{system,user,assistant,tool}.message``, ``gen_ai.choice`` (1.28-1.36)  body, or attributes on a span event
G3     ``gen_ai.client.inference.operation.details`` (1.37 and later)                 attributes, or a body with their names
=====  ============================================================================  ==================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from otel_eval.conventions.facts import Facts, Kind, fill
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.messages import calls_in, read_message, read_messages
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.conventions.reading.reasons import reasons_in
from otel_eval.conventions.reading.values import containers, is_object, number, text
from otel_eval.frozen import changed
from otel_eval.interaction import Message, TextPart
from otel_eval.signals import LogRecord, SpanEvent

DETAILS = "gen_ai.client.inference.operation.details"
ROLE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
CHOICE = "gen_ai.choice"
COMPLETION = "gen_ai.content.completion"
FIRST_OF_SEVERAL = "gen_ai.content.completion.0"
"""OpenLIT until 1.33 numbered the events of several choices; the first is the answer."""
NAMES = frozenset({*ROLE_EVENTS, CHOICE, DETAILS, "gen_ai.content.prompt", COMPLETION, FIRST_OF_SEVERAL})

NOTHING = "None"
"""What Python wrote for the text of an answer that asks for tools."""
_SAID = frozenset({"content", "tool_calls", "toolCalls"})
"""Of an answer that is no message of its own within the event (Bedrock in OpenTelemetry's agent for Java)."""
_SPEAKER = re.compile(r"^(system|user|assistant|tool): ", re.M)


def facts_of_events(events: Iterable[SpanEvent]) -> Facts | None:
    """What the GenAI events of one span say together; None where it has none."""
    found: Facts | None = None
    for event in events:
        if event.name in NAMES:
            facts = facts_of_event(event.name, event.attributes, _body(event.attributes))
            found = facts if found is None else follow(found, facts)
    return found


def read_log(record: LogRecord) -> Facts | None:
    """What a GenAI log record says of its span; None for other records."""
    if record.event_name not in NAMES:
        return None
    body = containers(record.body)
    if body is None:  # as on a span's event
        return facts_of_event(record.event_name, record.attributes, _body(record.attributes))
    return facts_of_event(record.event_name, record.attributes, body if is_object(body) else {"content": body})


def _body(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a span's event has for a body: its attributes, or JSON in one of them (Azure's SDKs, azure-ai-inference 1.0.0b9)."""
    body = containers(attributes.get("gen_ai.event.content"))
    return body if is_object(body) else attributes


def facts_of_event(name: str, attributes: Mapping[str, Any], body: Mapping[str, Any]) -> Facts:
    """One event. ``body`` holds the fields of G2 events: a log record's body, or a span event's attributes."""
    if name == FIRST_OF_SEVERAL:
        name = COMPLETION
    if name == DETAILS:
        return _details(attributes if any(key.startswith("gen_ai.") for key in attributes) else body, body)
    content = Content(body)
    if name == "gen_ai.content.prompt":
        return _prompt(attributes.get("gen_ai.prompt", body.get("content")), body, content)
    if name == CHOICE and number(body.get("index")) and "message" in body:
        return Facts(
            kind=Kind.OTHER
        )  # an alternative to the first; Google's SDK numbers a stream's pieces, without message
    if name == CHOICE or (name == COMPLETION and is_object(body.get("message"))):  # LiteLLM's completions are choices
        reason = text(body.get("finish_reason"))
        output = _with_names(_choice(body))
        _mark_hidden("output", body, content)
        return Facts(kind=Kind.OTHER, output=output, finish_reasons=(reason,) if reason else (), marks=content.marks)
    if name == COMPLETION:
        raw = attributes.get("gen_ai.completion", body.get("content"))
        said = None if raw is None or content.hidden("output", raw) else _transcript(raw, "assistant")
        return Facts(kind=Kind.OTHER, output=said, marks=content.marks)
    _mark_hidden("input", body, content)
    message = _message(body, ROLE_EVENTS[name])
    return Facts(kind=Kind.OTHER, input=(message,) if message.parts else (), marks=content.marks)


def _message(body: Mapping[str, Any], role: str) -> Message:
    """A G2 message; Google ADK's is Gemini's, ``{"content": {"role": …, "parts": […]}}``."""
    inner = containers(body.get("content"))
    if is_object(inner) and "parts" in inner:
        return read_message({"role": role, **inner}, role)
    return read_message({"role": role, **_cleaned(body)}, role)


def _prompt(raw: Any, body: Mapping[str, Any], content: Content) -> Facts:
    """G1: all messages in one text or list; LiteLLM writes a record for each message, which is the body."""
    if "role" in body:
        _mark_hidden("input", body, content)
        message = read_message(_cleaned(body))
        return Facts(kind=Kind.OTHER, input=(message,) if message.parts else (), marks=content.marks)
    said = None if raw is None or content.hidden("input", raw) else _transcript(raw, "user")
    return Facts(kind=Kind.OTHER, input=said, marks=content.marks)


def _mark_hidden(field: str, body: Mapping[str, Any], content: Content) -> None:
    message = body.get("message")
    for raw in (body.get("content"), message, message.get("content") if is_object(message) else None):
        if not content.hidden(field, raw):
            content.cut(field, raw)


def follow(first: Facts, second: Facts) -> Facts:
    """Both: the messages of the second after those of the first, and what the first does not say. Equal lists (an
    event sent twice) count once."""

    def both(a: tuple[Message, ...] | None, b: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
        if a is None or b is None:
            return b if a is None else a
        return a if len(b) > 1 and b == a else a + b

    return fill(first, second, input=both(first.input, second.input), output=both(first.output, second.output))


def _details(attributes: Mapping[str, Any], body: Mapping[str, Any]) -> Facts:
    content = Content({**body, **attributes})
    return Facts(
        kind=Kind.OTHER,
        input=content.messages("input", "gen_ai.input.messages"),
        output=content.messages("output", "gen_ai.output.messages", role="assistant"),
        system=content.instructions("gen_ai.system_instructions", "gen_ai.system.instructions"),
        finish_reasons=reasons_in(content.attributes),
        marks=content.marks,
    )


def _choice(body: Mapping[str, Any]) -> tuple[Message, ...] | None:
    """The answer. None where the message has neither text nor calls, not even empty ones: so it is without content
    capture."""
    raw = body.get("message", body.get("content"))
    message = containers(raw)
    if is_object(message) and message.keys() <= {"role"}:
        return None
    if is_object(message) and (
        "role" in message or "content" in message or "parts" in message or "tool_calls" in message
    ):
        said = read_message({"role": "assistant", **_cleaned(message)}, "assistant")
        return (said,) if said.parts else ()
    extra = {key: value for key, value in _cleaned(body).items() if key in _SAID}
    if message is None and extra:
        said = read_message({"role": "assistant", **extra}, "assistant")
        return (said,) if said.parts else ()
    read = read_messages(message, "assistant") if message is not None else ()
    if not read and isinstance(raw, str) and is_object(message) and message:
        return (Message(role="assistant", parts=(TextPart(text=raw),)),)  # the answer is an object (Strands)
    return read


def _with_names(messages: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    """Without calls of which even the tool's name is hidden; None where nothing else was said."""
    if not any(is_placeholder(call.name) for message in messages or () for call in calls_in(message)):
        return messages
    shown = [
        changed(message, parts=tuple(part for part in message.parts if not is_placeholder(getattr(part, "name", None))))
        for message in messages or ()
    ]
    return tuple(message for message in shown if message.parts) or None


def _cleaned(body: Mapping[str, Any]) -> dict[str, Any]:
    cleaned = dict(body)
    if isinstance(cleaned.get("content"), str):
        cleaned["content"] = _blocks(cleaned["content"])
    return cleaned


def _blocks(content: str) -> Any:
    """Span events hold Bedrock's blocks as JSON in a string."""
    return containers(content) if content.startswith('[{"') else content


def transcript(raw: object) -> tuple[Message, ...] | None:
    """The messages in OpenLIT's one text of all (until 1.34); None for any other value."""
    return _transcript(raw, "user") if isinstance(raw, str) and _SPEAKER.match(raw) else None


def _transcript(raw: Any, role: str) -> tuple[Message, ...] | None:
    """G1: a JSON list of messages, or one text in which OpenLIT (1.33) wrote ``user: …`` line after line."""
    if raw is None:
        return None
    if raw == NOTHING:
        return ()
    if isinstance(raw, str) and raw.lstrip()[:1] not in ("[", "{") and _SPEAKER.match(raw):
        pieces = _SPEAKER.split(raw)[1:]
        told = [(speaker, said.rstrip("\n")) for speaker, said in zip(pieces[::2], pieces[1::2], strict=True)]
        return tuple(read_message({"role": speaker, "content": said}) for speaker, said in told if said != NOTHING)
    return read_messages(raw, role)
