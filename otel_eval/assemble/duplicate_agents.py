"""Agents' spans that two instrumentations wrote beside each other, in one trace."""

from __future__ import annotations

from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import Kind


def written_once(tree: Tree) -> Tree:
    """The tree with one such span below the other, which knows more; the same tree where there is none.

    OpenLLMetry puts each agent of the OpenAI Agents SDK below the workflow, the official instrumentation below the tool that
    ran it, which knows its place. Of two in no tool one may be around nothing but agents. Two are one invocation that
    have one agent's name, another instrumentation each, and ran at the same time; of several at once those that began
    closest to each other.
    """
    agents = [node for node in tree.by_id.values() if node.kind() is Kind.AGENT and node.facts and node.facts.agent]
    if len({node.scope for node in agents}) < 2:  # as nearly always
        return tree
    tools = {node.span_id: _tool_above(node, tree) for node in agents}
    hosts: dict[str, set[str]] = {}  # by the span of the invocation, the instrumentations that wrote it
    parents: dict[str, str] = {}
    hollow = {node.span_id for node in agents if _is_hollow(node, tree)}

    def knows(host: Node, node: Node) -> bool:
        if tools[host.span_id] == tools[node.span_id]:
            return node.span_id in hollow and host.span_id not in hollow and _apart(host, node, tree)
        return tools[host.span_id] is not None

    for node in sorted(agents, key=lambda node: (tools[node.span_id] is None, node.span_id in hollow, node.order)):
        twins = [
            host
            for host in agents
            if knows(host, node) and node.scope not in hosts.get(host.span_id, {node.scope}) and _is_twin(host, node)
        ]
        if twins:
            twin = min(twins, key=lambda host: (abs(host.started_ns - node.started_ns), host.order))
            hosts[twin.span_id].add(node.scope)
            parents[node.span_id] = twin.span_id
        else:
            hosts[node.span_id] = {node.scope}
    return tree.moved(parents)


def _is_twin(one: Node, other: Node) -> bool:
    """Whether each ran for at least half of the time of both together."""
    assert one.facts is not None
    assert other.facts is not None
    both = min(one.ended_ns, other.ended_ns) - max(one.started_ns, other.started_ns)
    whole = max(one.ended_ns, other.ended_ns) - min(one.started_ns, other.started_ns)
    return one.facts.agent == other.facts.agent and one.resource == other.resource and both > 0 and 2 * both >= whole


def _tool_above(node: Node, tree: Tree) -> str | None:
    return next((above.span_id for above in tree.ancestors(node) if above.kind() is Kind.TOOL), None)


def _is_hollow(node: Node, tree: Tree) -> bool:
    """Whether there is nothing below it but agents and what is below them."""
    waiting = [*tree.children.get(node.span_id, ())]
    while waiting:
        child = waiting.pop()
        if child.kind() in (Kind.MODEL, Kind.TOOL):
            return False
        if child.kind() is not Kind.AGENT:
            waiting.extend(tree.children.get(child.span_id, ()))
    return True


def _apart(one: Node, other: Node, tree: Tree) -> bool:
    return one not in tree.ancestors(other) and other not in tree.ancestors(one)
