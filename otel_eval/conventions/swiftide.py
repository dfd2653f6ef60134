"""Swiftide, for Rust, with its feature ``langfuse``: a model's request and response in a debug event of its span.

Its layer for Langfuse sends them to Langfuse; a layer of OpenTelemetry's that takes debug events of Swiftide's writes
them into OTLP. Agents, their steps and their tools are functions that are traced, with nothing but their names, and no
key by which they could be told from other programs' spans: an agent is the loop of its model's calls, tools are what
those tell.
Source: swiftide-agents, swiftide-integrations and swiftide-core 0.33.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import is_object, text
from otel_eval.interaction import Message
from otel_eval.signals import Span

SETTING = 'features = ["langfuse"] of swiftide, and a filter that lets swiftide\'s debug events pass'
_KIND = "langfuse.type"


def read(span: Span) -> Facts | None:
    """A model's call; None for spans without Langfuse's type as Swiftide writes it."""
    if span.attributes.get(_KIND) != "GENERATION":
        return None
    told = next((event.attributes for event in span.events if "langfuse.output" in event.attributes), {})
    content = Content(told)
    request = content.value("input", "langfuse.input")
    response = content.value("output", "langfuse.output")
    return Facts(
        kind=Kind.MODEL,
        input=read_messages(request) or None if is_object(request) else None,
        output=_answer(response) if is_object(response) else None,
        model=text(told.get("langfuse.model")),
        usage=counted(content.value("usage", "langfuse.usage")),
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _answer(response: Mapping[str, Any]) -> tuple[Message, ...]:
    """Swiftide's own response: a text, and calls with ``args`` in a text."""
    calls = [each for each in response.get("tool_calls") or () if is_object(each)]
    said = {"role": "assistant", "content": response.get("message"), "tool_calls": calls}
    return tuple(message for message in read_messages([said], "assistant") if message.parts)


CONVENTION = Convention(name="swiftide", read=read, prefixes=(_KIND,))
