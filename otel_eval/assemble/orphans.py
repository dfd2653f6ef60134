"""Spans whose parent never came: which agent they belong to, where time leaves no doubt.

A sampler, a full queue or a crash takes single spans out of a trace. What was below them is then a tree of its own, and
would pass for work without an agent. It belongs to an agent of its trace if it ran wholly within that agent's span, in the
same process, and within no other agent's; where it ran within none, to the workflow around it. What one lost span was
around, model calls among it, belongs to a tool of that agent's if it ran wholly within that tool's span: an agent that
a tool asked lost its own span.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from otel_eval.assemble.nodes import Node
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import Kind


def adopted(tree: Tree) -> Tree:
    """The tree with each orphan below the one agent that it ran within; the same tree where there is none."""
    orphans = [top for top in tree.roots if top.parent_id is not None and top.parent_id not in tree.known]
    if not orphans:  # as nearly always
        return tree
    agents = [node for node in tree.by_id.values() if node.kind() is Kind.AGENT]
    frames = [node for node in tree.roots if node.kind() is Kind.WORKFLOW]
    parents: dict[str, str] = {}
    for top in orphans:
        among = agents if any(_encloses(agent, top) for agent in agents) else frames
        if (parent := _agent_around(top, among, tree)) is not None:
            parents[top.span_id] = parent
    parents |= _within_tools([top for top in orphans if top.span_id in parents], parents, tree)
    whole = tree.moved(parents)
    whole.adopted = parents
    return whole


def _agent_around(top: Node, agents: Iterable[Node], tree: Tree) -> str | None:
    """The span id of the agent that the orphan ran within; None where none, or several, can be it."""
    around = [
        agent
        for agent in agents
        if _encloses(agent, top) and not _is_beside(agent, top, tree) and not _contradicts(agent, top, tree)
    ]
    if not around:
        return None
    innermost = max(around, key=lambda agent: len(list(tree.ancestors(agent))))
    chain = {innermost.span_id, *(above.span_id for above in tree.ancestors(innermost))}
    names = {agent.facts.agent for agent in around if agent.facts is not None and agent.facts.agent}
    # an agent that is written twice, one span within the other, is one agent
    return innermost.span_id if len(names) <= 1 and all(agent.span_id in chain for agent in around) else None


def _encloses(agent: Node, node: Node) -> bool:
    return (
        0 < agent.started_ns <= node.started_ns <= node.ended_ns <= agent.ended_ns
        and agent.resource == node.resource
        and (agent.started_ns, agent.ended_ns) != (node.started_ns, node.ended_ns)
    )


def _is_beside(agent: Node, top: Node, tree: Tree) -> bool:
    """Whether the agent is below the orphan, or the parent that both of them miss is the same: then they are siblings."""
    above = [agent, *tree.ancestors(agent)]
    return any(node.span_id == top.span_id or node.parent_id == top.parent_id for node in above)


def _contradicts(agent: Node, top: Node, tree: Tree) -> bool:
    """Whether the orphan, or a span below it, names another agent or another conversation as its own."""
    mine = agent.facts
    for node in (top, *tree.below(top)):
        told = node.facts
        if told is None or mine is None or node.kind() is Kind.AGENT:
            continue
        if told.agent is not None and mine.agent is not None and told.agent != mine.agent:
            return True
        if told.session is not None and mine.session is not None and told.session != mine.session:
            return True
    return False


def _within_tools(orphans: Iterable[Node], agents: Mapping[str, str], tree: Tree) -> dict[str, str]:
    """For orphans with one lost parent the only tool of their agent's that ran around all of them, if models were called."""
    tools = [node for node in tree.by_id.values() if node.kind() is Kind.TOOL]
    beside: dict[tuple[str | None, str], list[Node]] = {}
    for top in orphans:
        beside.setdefault((top.parent_id, agents[top.span_id]), []).append(top)
    found: dict[str, str] = {}
    for (_, agent), tops in beside.items():
        if not tools or not any(node.kind() is Kind.MODEL for top in tops for node in (top, *tree.below(top))):
            continue
        around = [tool for tool in tools if all(_encloses(tool, top) for top in tops) and _is_of(tool, agent, tree)]
        if len(around) == 1:
            found |= dict.fromkeys((top.span_id for top in tops), around[0].span_id)
    return found


def _is_of(tool: Node, agent: str, tree: Tree) -> bool:
    """Whether the tool is the agent's own: no other agent, and no other tool, is between the two."""
    for above in tree.ancestors(tool):
        if above.span_id == agent:
            return True
        if above.kind() in (Kind.AGENT, Kind.TOOL):
            return False
    return False
