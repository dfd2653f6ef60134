"""Agents whose span ends when they give back a stream, before anybody reads it: their work is beside them, after their end.

So it is of Quarkus' services that return a ``Multi``. Such an agent's span says nothing and has nothing below it. It takes
the calls of models and tools with the same parent that start after its end, up to the next such agent's. Where another agent
has that parent as well, or one of these has no model's call, who called what is not known, and all stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import Kind


def streamed(tree: Tree) -> Tree:
    """The tree with such calls below their agents; the same tree where there is none."""
    above = {node.parent_id for node in tree.by_id.values() if node.parent_id is not None and _is_silent(node, tree)}
    if not above:
        return tree
    beside: dict[str, list[Node]] = {}
    for node in tree.by_id.values():
        if node.parent_id in above:
            beside.setdefault(node.parent_id, []).append(node)
    parents: dict[str, str] = {}
    for nodes in beside.values():
        parents |= _parents(nodes, tree)
    return tree.moved(parents)


def _is_silent(node: Node, tree: Tree) -> bool:
    """Whether the span is an agent's that says nothing of what it did, and did nothing within it."""
    told = node.facts
    if told is None or told.kind is not Kind.AGENT or tree.children.get(node.span_id) or told.failure is not None:
        return False
    return all(said is None for said in (told.input, told.output, told.asked, told.reply, told.prompt, told.model))


def _parents(nodes: Sequence[Node], tree: Tree) -> dict[str, str]:
    """By the span ids of calls those of their agents, among the spans of one parent, which stand in order."""
    agents = [node for node in nodes if node.kind() in (Kind.AGENT, Kind.WORKFLOW)]
    if not all(_is_silent(agent, tree) for agent in agents):
        return {}
    parents: dict[str, str] = {}
    callers: set[str] = set()
    for node in nodes:
        if node.kind() not in (Kind.MODEL, Kind.TOOL):
            continue
        before = [agent for agent in agents if agent.started_ns <= node.started_ns and agent.resource == node.resource]
        if not before or node.started_ns < before[-1].ended_ns:
            return {}
        parents[node.span_id] = before[-1].span_id
        if node.kind() is Kind.MODEL:
            callers.add(before[-1].span_id)
    return parents if len(callers) == len(agents) else {}
