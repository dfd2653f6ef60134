"""LlamaIndex.TS under OpenLLMetry, where an agent's history has lost its tool calls.

A request for tools is an assistant's message with an empty text, and what the tools gave are messages of a user behind it.
Source: @traceloop/instrumentation-llamaindex 0.27.0 with llamaindex 0.12.1 and @llamaindex/workflow 1.1.24.
"""

from __future__ import annotations

from collections.abc import Iterable

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai_operations import kind_of
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.parts import result_value
from otel_eval.interaction import Message, TextPart, ToolResultPart
from otel_eval.signals import Span

SCOPE = "@traceloop/instrumentation-llamaindex"


def read(span: Span) -> Facts | None:
    """The input of a model's call as it was; None for all other spans."""
    if span.scope.name != SCOPE or kind_of(span) is not Kind.MODEL:
        return None
    content = Content.of(span)
    told = content.messages("input", "gen_ai.input.messages")
    return None if told is None else Facts(kind=Kind.MODEL, input=tuple(_as_they_were(told)), marks=content.marks)


def _as_they_were(messages: Iterable[Message]) -> Iterable[Message]:
    requested = False
    for message in messages:
        if message.role == "assistant":
            requested = not message.text and all(isinstance(part, TextPart) for part in message.parts)
        if requested and message.role == "user":
            yield Message(role="tool", parts=(ToolResultPart(result=result_value(message.text)),))
        else:
            yield message


CONVENTION = Convention(name="openllmetry-llama-index-js", read=read, scopes=(SCOPE,))
