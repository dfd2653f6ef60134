"""Weights & Biases Weave: the standard's attributes, with a conversation that may be none.

Its conversations (``weave.conversation``, of the SDK and of the integrations for Claude and others) always have an id, a
random one where the program gave none. Its processor for the OpenAI Agents SDK writes the id of the SDK's trace, which is
one run, where there is no ``group_id``.
Source: weave 0.54 (conversation_otel, integrations.openai_agents.otel_processor).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts
from otel_eval.conventions.genai import kind_of
from otel_eval.conventions.values import text
from otel_eval.signals import Span

_TRACE = "weave.openai_agents.trace_id"


def read(span: Span) -> Facts | None:
    """That a run's own id is no session; all else is the standard's. None where there is nothing to correct."""
    run = text(span.attributes.get(_TRACE))
    if run is None or span.attributes.get("gen_ai.conversation.id") != run:
        return None
    kind = kind_of(span)
    return None if kind is None else Facts(kind=kind, session="")


CONVENTION = Convention(name="weave", read=read, prefixes=(_TRACE,))
