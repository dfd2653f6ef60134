"""Koog (JetBrains): ``koog.event.id`` on every span, beside the standard's attributes.

``create_agent`` > ``invoke_agent ID`` > ``strategy`` > ``node`` > ``chat MODEL``, ``execute_tool``. What the agent's own span
has for messages is the prompt that it was built with, at its start and at its end; what it was asked and what it gave back
stand on the first and the last node of its strategy. Without verbose spans a placeholder stands for each content. The
conversation is the id that the run was given, or one that Koog made for it.

Until 0.5 only nodes had attributes of Koog's, other spans are known by their names: ``run.UUID``, ``llm.HASH`` and
``tool.NAME.args.HASH``. A model's call has its messages in events, the answer's last, a tool's values in ``input.value`` and
``output.value``.
Source: Koog 0.5.4 and 1.1.1, ``agents-features-opentelemetry``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from otel_eval.conventions import events
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Mark
from otel_eval.conventions.genai_operations import OPERATIONS
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.conventions.reading.values import text
from otel_eval.frozen import changed
from otel_eval.interaction import GapKind, Message, Part, TextPart, ToolCallPart
from otel_eval.signals import Span, SpanEvent

SETTING = "setVerbose(true) where the OpenTelemetry feature is installed"

_FIRST, _LAST = "__start__", "__finish__"
_NAMES = re.compile(r"run\.[0-9a-f-]{36}|llm\.[\w-]{43}=?|tool\..+\.args\.[\w-]{43}=?")
"""Of spans until 0.5."""
_OF_THE_MODEL = ("gen_ai.choice", "gen_ai.assistant.message")


def read(span: Span) -> Facts | None:
    """The nodes at both ends, and what Koog writes into the standard's attributes that is not what the standard means."""
    attributes = span.attributes
    if not any(key.startswith("koog.") for key in attributes) and not _NAMES.fullmatch(span.name):
        return None
    content = Content.of(span)
    operation = text(attributes.get("gen_ai.operation.name"))
    if operation is None:
        return _node(content)
    kind = OPERATIONS.get(operation, Kind.OTHER)
    if kind is Kind.AGENT:
        return Facts(
            kind=kind,
            agent=text(attributes.get("gen_ai.agent.id")),  # its name, where it has one
            input=(),
            output=(),
            system=_system(content),
            marks=content.marks,
            setting=SETTING,
        )
    if kind is Kind.MODEL:
        return _model(span, content)
    return _tool(content) if kind is Kind.TOOL else Facts(kind=kind, setting=SETTING)


def _model(span: Span, content: Content) -> Facts:
    messages = [
        (event.name, events.facts_of_event(event.name, event.attributes, event.attributes)) for event in _of(span)
    ]
    told, system = _told(content), _system(content)
    if not messages:
        return Facts(kind=Kind.MODEL, input=told, system=system, marks=content.marks, setting=SETTING)
    asked = max((at + 1 for at, (name, _) in enumerate(messages) if name not in _OF_THE_MODEL), default=0)
    marks = tuple({mark: None for _, facts in messages for mark in facts.marks})
    said = tuple(_messages(facts for _, facts in messages[asked:]))
    shown = tuple(message for message in map(_without_hidden, said) if message.parts)
    hidden = shown != said or any(facts.marks for _, facts in messages[asked:])
    return Facts(
        kind=Kind.MODEL,
        input=tuple(_without_hidden(message) for message in _messages(facts for _, facts in messages[:asked])),
        output=shown or (None if hidden else ()),
        marks=(*marks, Mark(field="output", kind=GapKind.REDACTED)) if hidden else marks,
        setting=SETTING,
    )


def _of(span: Span) -> list[SpanEvent]:
    return [event for event in span.events if event.name in events.NAMES]


def _messages(facts: Iterable[Facts]) -> Iterable[Message]:
    for each in facts:
        yield from each.input or each.output or ()


def _without_hidden(message: Message) -> Message:
    """A call whose tool is hidden is told by the tool's span."""
    kept = tuple(part for part in message.parts if not is_placeholder(_shown(part)))
    return message if len(kept) == len(message.parts) else changed(message, parts=kept)


def _shown(part: Part) -> str | None:
    if isinstance(part, TextPart):
        return part.text
    return part.name if isinstance(part, ToolCallPart) else None


def _tool(content: Content) -> Facts:
    old = "output.value" in content.attributes or "input.value" in content.attributes
    arguments = content.json("arguments", "input.value") if old else MISSING
    result = content.json("result", "output.value") if old else MISSING
    return Facts(kind=Kind.TOOL, arguments=arguments, result=result, marks=content.marks, setting=SETTING)


def _told(content: Content) -> tuple[Message, ...] | None:
    """The messages, without those of tools that have nothing in them, which Koog writes for its system message."""
    messages = content.messages("input", "gen_ai.input.messages")
    return None if messages is None else tuple(message for message in messages if message.parts)


def _system(content: Content) -> str | None:
    return content.instructions("gen_ai.system_instructions", "system_instructions")


def _node(content: Content) -> Facts:
    name = content.attributes.get("koog.node.id", content.attributes.get("koog.node.name"))
    return Facts(
        kind=Kind.STEP,
        asked=_text(content, "input") if name == _FIRST else None,
        reply=_text(content, "output") if name == _LAST else None,
        marks=content.marks,
        setting=SETTING,
    )


def _text(content: Content, end: str) -> str | None:
    """A text that was written as JSON; any other value as it was written."""
    raw = content.attributes.get(f"koog.node.{end}")
    if is_placeholder(raw):
        return None
    value = content.json(end, f"koog.node.{end}")
    return text(value) or text(raw)


CONVENTION = Convention(name="koog", read=read, prefixes=("koog.",), names=("run.", "llm.", "tool."))
