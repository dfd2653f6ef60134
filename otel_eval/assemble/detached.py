"""Agents whose instrumentation loses the context: what belongs below their spans is found by time and content.

Time alone is no proof where many requests run at once, so a nested agent is taken for one only where the tool that ran
around it gave back its reply, and a call of that tool is in the outer agent's messages; or where both have a message of the
same id: an agent that is the node of another's graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_eval.assemble.evidence import Evidence
from otel_eval.assemble.nodes import Node
from otel_eval.assemble.transcript import reply_in
from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.reading.messages import asked_for


def is_detached(found: Evidence) -> bool:
    """Whether the agent's spans are such."""
    return any(facts.detached for facts in found.frame_facts())


def encloses(found: Evidence, node: Node) -> bool:
    """Whether the agent ran around that span, which is in another trace, or beside a detached agent's."""
    frame = found.frames[0]
    beside = is_detached(found) and frame.parent_id is not None and frame.parent_id == node.parent_id
    return _around(frame, node) and (frame.trace_id != node.trace_id or beside)


def _around(outer: Node, inner: Node) -> bool:
    return (
        outer.started_ns <= inner.started_ns
        and inner.ended_ns <= outer.ended_ns
        and outer.resource.attributes.get("service.name") == inner.resource.attributes.get("service.name")
    )


def nest(evidence: Sequence[Evidence], nodes: Iterable[Node]) -> None:
    """Gives detached agents that ran inside another's tool call their parent."""
    detached = [found for found in evidence if found.frames and found.parent_id is None and is_detached(found)]
    if len(detached) < 2:
        return
    tools = [node for node in nodes if node.kind() is Kind.TOOL and node.facts is not None and node.facts.call_id]
    for inner in detached:
        outer = _outer(inner, detached, tools) or _sharing(inner, detached)
        if outer is not None:
            inner.parent_id = outer.id


def _outer(inner: Evidence, detached: Sequence[Evidence], tools: Sequence[Node]) -> Evidence | None:
    said = next((text for facts in inner.frame_facts() if (text := _said(facts)) is not None), None)
    if not said:
        return None
    for tool in tools:
        assert tool.facts is not None
        if _around(tool, inner.frames[0]) and isinstance(tool.facts.result, str) and said in tool.facts.result:
            callers = [found for found in detached if found is not inner and tool.facts.call_id in asked_ids(found)]
            if len(callers) == 1:
                return callers[0]
    return None


def _sharing(inner: Evidence, detached: Sequence[Evidence]) -> Evidence | None:
    """The innermost agent around it that has a message of its."""
    mine = _message_ids(inner)
    around = [
        found
        for found in detached
        if found is not inner
        and not mine.isdisjoint(_message_ids(found))
        and _around(found.frames[0], inner.frames[0])
        and not _around(inner.frames[0], found.frames[0])
    ]
    return min(around, key=lambda found: (found.ended_ns - found.started_ns, found.id), default=None)


def _message_ids(found: Evidence) -> set[str]:
    return {id_ for facts in found.frame_facts() for id_ in facts.message_ids}


def _said(facts: Facts) -> str | None:
    return facts.reply if facts.reply is not None else reply_in(facts.output or ())


def asked_ids(found: Evidence) -> set[str | None]:
    """The ids of the tool calls that its model asked for."""
    return {part.call_id for facts in found.frame_facts() for part in asked_for(facts.output or ())}
