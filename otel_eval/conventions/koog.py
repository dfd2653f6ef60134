"""Koog (JetBrains): ``koog.event.id`` on every span, beside the standard's attributes.

``create_agent`` > ``invoke_agent ID`` > ``strategy`` > ``node`` > ``chat MODEL``, ``execute_tool``. What the agent's own span
has for messages is the prompt that it was built with, at its start and at its end; what it was asked and what it gave back
stand on the first and the last node of its strategy. Without verbose spans a placeholder stands for each content. The
conversation is the id that the run was given, or one that Koog made for it.
Source: Koog 1.1.1, ``agents-features-opentelemetry``; events, until 0.6, as in ``events.py``.
"""

from __future__ import annotations

from otel_eval.conventions.content import Content
from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai import OPERATIONS
from otel_eval.conventions.values import is_placeholder, text
from otel_eval.interaction import Message
from otel_eval.signals import Span

SETTING = "setVerbose(true) where the OpenTelemetry feature is installed"

_FIRST, _LAST = "__start__", "__finish__"


def read(span: Span) -> Facts | None:
    """The nodes at both ends, and what Koog writes into the standard's attributes that is not what the standard means."""
    if not any(key.startswith("koog.") for key in span.attributes):
        return None
    content = Content.of(span)
    operation = text(span.attributes.get("gen_ai.operation.name"))
    if operation is None:
        return _node(content)
    kind = OPERATIONS.get(operation, Kind.OTHER)
    if kind is Kind.AGENT:
        return Facts(kind=kind, input=(), output=(), system=_system(content), marks=content.marks, setting=SETTING)
    if kind is Kind.MODEL:
        asked = _told(content)
        return Facts(kind=kind, input=asked, system=_system(content), marks=content.marks, setting=SETTING)
    return Facts(kind=kind, setting=SETTING)


def _told(content: Content) -> tuple[Message, ...] | None:
    """The messages, without those of tools that have nothing in them, which Koog writes for its system message."""
    messages = content.messages("input", "gen_ai.input.messages")
    return None if messages is None else tuple(message for message in messages if message.parts)


def _system(content: Content) -> str | None:
    return content.instructions("gen_ai.system_instructions", "system_instructions")


def _node(content: Content) -> Facts:
    name = content.attributes.get("koog.node.id")
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


CONVENTION = Convention(name="koog", read=read, prefixes=("koog.",))
