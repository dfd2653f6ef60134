"""What a group of spans still lacks: the evidence on which a live driver decides whether to wait."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otel_eval.assemble.nodes import Node, collect
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import Kind, Note
from otel_eval.conventions.messages import calls_in, results_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What is not there yet, of one trace or of several that are tied.

    ``dangling``: (trace id, span id) of parents that have not arrived, each most likely a span that is still open.
    ``open_calls``: ids or names of tools that the last answers asked for and nothing answered.
    ``content``: whether any message has arrived; where none has, it may be on its way as log records.
    ``agent``: whether an agent's span is there.
    """

    dangling: frozenset[tuple[str, str]]
    open_calls: frozenset[str]
    content: bool
    agent: bool


def missing(nodes: Iterable[Node], notes: Iterable[Note] = ()) -> Missing:
    """What the group lacks. Pure; the order and repetition of what is given do not matter."""
    by_trace: dict[str, list[Node]] = {}
    for node in collect(nodes, notes):
        by_trace.setdefault(node.trace_id, []).append(node)
    trees = [Tree(members) for members in by_trace.values()]
    present = [node for tree in trees for node in tree.by_id.values()]
    told = [node.facts for node in present if node.facts is not None]
    return Missing(
        dangling=frozenset(
            (node.trace_id, node.parent_id)
            for tree in trees
            for node in tree.by_id.values()
            if node.parent_id is not None and node.parent_id not in tree.known
        ),
        open_calls=_open_calls(present),
        content=any(facts.input or facts.output or facts.asked or facts.reply for facts in told),
        agent=any(facts.kind in (Kind.AGENT, Kind.WORKFLOW) for facts in told),
    )


def _open_calls(nodes: Iterable[Node]) -> frozenset[str]:
    asked: dict[str, str] = {}
    answered: set[str] = set()
    for node in nodes:
        if node.facts is None:
            continue
        if node.kind() is Kind.TOOL:
            answered.update(filter(None, (node.facts.call_id, node.facts.tool)))
        for message in (*(node.facts.input or ()), *(node.facts.output or ())):
            asked.update({part.call_id or part.name: part.name for part in calls_in(message)})
            answered.update(part.call_id or part.name or "" for part in results_in(message))
    return frozenset(key for key, name in asked.items() if key not in answered and name not in answered)
