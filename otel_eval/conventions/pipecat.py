"""Pipecat: ``turn`` is the invocation, in a span ``conversation`` for the whole call; ``llm`` is the model's call.

``input`` holds the model's messages, ``output`` the text that it spoke; tools have no spans, so they are known from the
messages alone. The session is ``conversation.id``. ``stt`` and ``tts`` name models, too, and are no agent's work.
Source: pipecat-ai 0.0.9x and 1.14.0, ``utils/tracing``.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, is_control_flow
from otel_eval.conventions.reading.values import text
from otel_eval.interaction import Message, TextPart
from otel_eval.signals import Span

_SCOPE = "pipecat"
_NO_WORK = ("stt", "tts", "conversation")


def read(span: Span) -> Facts | None:
    """What the span says; None for what the standard's attributes say alone."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    if span.name.split("_")[0] in _NO_WORK:
        return Facts(kind=Kind.OTHER)
    session = text(span.attributes.get("conversation.id"))
    if span.name == "turn":
        return Facts(kind=Kind.AGENT, session=session, failure=failure_of(span), control_flow=is_control_flow(span))
    if span.name.split("_")[0] != "llm" or span.name.startswith(("llm_tool", "llm_setup")):
        return None
    content = Content.of(span)
    said = span.attributes.get("output")
    return Facts(
        kind=Kind.MODEL,
        session=session,
        input=content.messages("input", "input"),
        output=(Message(role="assistant", parts=(TextPart(text=said),)),) if isinstance(said, str) else None,
        system=content.instructions("gen_ai.system_instructions", "system"),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


CONVENTION = Convention(name="pipecat", read=read, scopes=(_SCOPE,))
