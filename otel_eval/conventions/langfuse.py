"""Langfuse's SDKs for Python and JavaScript: ``langfuse.observation.*``, also of its callback for LangChain.

``langfuse.observation.type`` is ``span``, ``generation`` or ``event`` in 3.0, and since 3.3 ``agent``, ``tool``,
``chain`` and more. Inputs and outputs are JSON, texts as they are since 3.1 and in quotes before; a decorated
function's input is ``{"args", "kwargs"}``. A failure may be ``langfuse.observation.level`` ERROR alone.
Source: langfuse 3.0.0 and 5.0.4 for Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, first_exception_of, is_control_flow
from otel_eval.conventions.reading.langgraph import agent_in, entrypoint_in
from otel_eval.conventions.reading.observed import Observed, facts_of
from otel_eval.conventions.reading.values import Undecodable, containers, decode, decode_leniently, text
from otel_eval.interaction import Failure, GapKind
from otel_eval.signals import Span

SETTING = "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=true"

KINDS: dict[str, Kind] = {
    "agent": Kind.AGENT,
    "chain": Kind.WORKFLOW,
    "span": Kind.WORKFLOW,
    "generation": Kind.MODEL,
    "tool": Kind.TOOL,
    "evaluator": Kind.EVALUATOR,
}
"""All else (event, retriever, embedding, guardrail) is no agent's work. A span or chain is a step below another."""


_SUPERVISORS = "call_agent"
"""A function of ``langgraph-supervisor``'s (0.0.31) around each agent, which gives the agent's state."""


def read(span: Span) -> Facts | None:
    """What the observation says; None for a span of another tracer, which Langfuse marks with trace attributes only."""
    attributes = span.attributes
    kind_name = text(attributes.get("langfuse.observation.type"))
    if kind_name is None:
        return None
    kind = KINDS.get(kind_name.lower(), Kind.OTHER)
    if kind in (Kind.AGENT, Kind.WORKFLOW):
        kind = _kind_of_chain(span, kind)
    content = Content.of(span)
    observed = Observed(
        kind=kind,
        name=span.name or None,
        taken=_value(content, "input", *_keys("input", kind)),
        given=_value(content, "output", *_keys("output", kind)),
        given_raw=text(attributes.get("langfuse.observation.output")),
        failure=None if is_control_flow(span) else _failure(span, kind),
        setting=SETTING,
        model=text(attributes.get("langfuse.observation.model.name")),
        usage=counted(decode_leniently(attributes.get("langfuse.observation.usage_details"))),
        session=text(attributes.get("session.id")) or _metadata(attributes, "thread_id"),
        agent=_metadata(attributes, "lc_agent_name")
        or (_asking(span.name, attributes) if kind in (Kind.MODEL, Kind.STEP) else None),
    )
    return facts_of(observed, span, content)


def _kind_of_chain(span: Span, kind: Kind) -> Kind:
    """LangChain's callback calls everything an agent that has ``agent`` in its name, a graph's nodes too."""
    agent = _metadata(span.attributes, "lc_agent_name")
    if agent == span.name:
        return Kind.AGENT
    node = _metadata(span.attributes, "langgraph_node")
    if node == span.name:
        return Kind.STEP
    given = str(span.attributes.get("langfuse.observation.output", "{"))
    if node is not None and agent is None and (given.lstrip()[:1] != "{" or span.name == _SUPERVISORS):
        return Kind.STEP  # a function between nodes, as ``route_to_active_agent``: a graph gives its state
    return Kind.WORKFLOW if agent is not None else kind


def _asking(name: str, attributes: Mapping[str, Any]) -> str | None:
    node = _metadata(attributes, "langgraph_node")
    way = _metadata(attributes, "langgraph_checkpoint_ns")
    triggers = attributes.get("langfuse.observation.metadata.langgraph_triggers")
    return agent_in(node, way) or entrypoint_in(name, node, triggers)


def _metadata(attributes: Mapping[str, Any], key: str) -> str | None:
    """A text in the observation's metadata: in quotes since 5."""
    found = decode_leniently(attributes.get(f"langfuse.observation.metadata.{key}"))
    return text(found)


def _keys(direction: str, kind: Kind) -> tuple[str, ...]:
    """A program may tell the trace's input and output in place of a function's."""
    own = f"langfuse.observation.{direction}"
    return (own, f"langfuse.trace.{direction}") if kind in (Kind.AGENT, Kind.WORKFLOW) else (own,)


def _value(content: Content, field: str, *keys: str) -> Any:
    raw = next((content.attributes[key] for key in keys if content.attributes.get(key) is not None), None)
    if raw is None or content.hidden(field, raw):
        return MISSING
    if not isinstance(raw, str):
        return raw
    if raw[:1] == '"':
        return decode_leniently(raw)
    try:
        decode(raw)
    except Undecodable:
        content.mark(field, GapKind.TRUNCATED)
        return MISSING
    return containers(raw)


def _failure(span: Span, kind: Kind) -> Failure | None:
    if kind is Kind.TOOL and span.status == "error" and (first := first_exception_of(span)) is not None:
        return first
    failure = failure_of(span)
    if failure is None and span.attributes.get("langfuse.observation.level") == "ERROR":
        failure = Failure(message=None)
    if failure is not None and failure.message is None:
        message = text(span.attributes.get("langfuse.observation.status_message")) or text(span.status_message)
        return Failure(type=failure.type, message=message or "the level is ERROR")
    return failure


CONVENTION = Convention(name="langfuse", read=read, prefixes=("langfuse.observation.",))
