"""Embabel's observations: ``embabel.agent.name`` and ``embabel.run.id``, around and beside Spring AI's spans.

An agent's run has its name, what it was given and its result; ``gen_ai.conversation.id`` is the run's own id where there is
no conversation. Around the model's call, which is Spring AI's span, stands one that says ``chat`` as well, and beside it one
that repeats its usage. Tools have the standard's attributes and an error of their own. Planning, goals, states and the like
are moments without content.
Source: embabel-agent-observability 0.3 to 0.5, ``Embabel*ObservationConvention``, ``EmbabelSpanEventListener``. Content is
always on, each value cut after ``embabel.observability.max-attribute-length`` characters.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.values import text
from otel_eval.interaction import Failure
from otel_eval.signals import Span

_RUNS = ("agent", "invoke_agent")


def read(span: Span) -> Facts | None:
    """What Embabel says beyond the standard."""
    attributes = span.attributes
    if not any(key.startswith("embabel.") for key in attributes):
        return None
    if "embabel.tool.name" in attributes:
        return _tool(span)
    if "embabel.agent.status" in attributes or attributes.get("gen_ai.operation.name") in _RUNS:
        return _agent(span)
    if "embabel.action.name" in attributes or "embabel.interaction.id" in attributes:
        usage_alone = "embabel.llm.model" in attributes
        return Facts(kind=Kind.OTHER if usage_alone else Kind.STEP)
    return Facts(kind=Kind.OTHER)


def _agent(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    conversation, run = text(attributes.get("gen_ai.conversation.id")), text(attributes.get("embabel.run.id"))
    ended_badly = attributes.get("embabel.agent.status") == "FAILED"
    return Facts(
        kind=Kind.AGENT,
        agent=text(attributes.get("embabel.agent.name")),
        session="" if conversation == run else conversation,
        asked=text(attributes.get("input.value")),
        reply=text(attributes.get("output.value")) or text(attributes.get("embabel.agent.result")),
        failure=failure_of(span) or (Failure(type="FAILED") if ended_badly else None),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


def _tool(span: Span) -> Facts:
    attributes = span.attributes
    raised = Failure(
        type=text(attributes.get("embabel.tool.error.type")), message=text(attributes.get("embabel.tool.error.message"))
    )
    failed = attributes.get("embabel.tool.status") == "error"
    return Facts(
        kind=Kind.TOOL,
        tool=text(attributes.get("embabel.tool.name")),
        error=str(raised) if failed and raised != Failure() else tool_error_of(span),
    )


CONVENTION = Convention(name="embabel", read=read, prefixes=("embabel.",))
