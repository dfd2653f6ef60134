"""Weights & Biases Weave: the standard's attributes, with a conversation that may be none.

Its conversations (``weave.conversation``, of the SDK and of the integrations for Claude and others) always have an id, a
random one where the program gave none. Its processor for the OpenAI Agents SDK writes the id of the SDK's trace, which is
one run, where there is no ``group_id``.
Source: weave 0.54 (conversation_otel, integrations.openai_agents.otel_processor).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai_operations import kind_of
from otel_eval.conventions.reading.values import text
from otel_eval.signals import Span

_AGENTS = "weave.openai_agents."
_FRAMES: dict[str, Kind] = {
    "task.workflow_name": Kind.WORKFLOW,  # one run of the SDK's runner, around the agents that it went to
    "turn.agent_name": Kind.STEP,
    "handoff.to_agent": Kind.HANDOFF,
}
"""Spans of the OpenAI Agents SDK that the standard has no operation for."""


def read(span: Span) -> Facts | None:
    """What the standard does not say: what frames agents, and that a run's own id is no session."""
    kind = _kind_of(span)
    if kind is None:
        return None
    run, conversation = span.attributes.get(f"{_AGENTS}trace_id"), text(span.attributes.get("gen_ai.conversation.id"))
    return Facts(
        kind=kind,
        session="" if conversation is None or conversation == run else conversation,
        weak_agent=text(span.attributes.get(f"{_AGENTS}task.workflow_name")),
    )


def _kind_of(span: Span) -> Kind | None:
    frame = next((kind for key, kind in _FRAMES.items() if _AGENTS + key in span.attributes), None)
    return kind_of(span) if frame is None else frame


CONVENTION = Convention(name="weave", read=read, prefixes=(_AGENTS,))
