"""What agents were given and gave where a message bus carries it: in spans beside theirs, mostly in traces of their own.

A delivery links to the span that sent its message, which is below the span of the agent whose words they are: that agent
gave them. It names the address that it reaches: that agent was given them, if it was called afterwards. Links alone say
which deliveries are of one conversation: an address may serve many of them. What nothing links is nobody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from otel_eval.assemble.nodes import Node
from otel_eval.conventions.facts import NO_USAGE, Facts, Kind, fill
from otel_eval.frozen import changed
from otel_eval.interaction import Message, TextPart

Key: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Posted:
    """A delivery's span and what it says."""

    node: Node
    facts: Facts


def delivered(nodes: Mapping[Key, Node]) -> Mapping[Key, Node]:
    """The nodes, agents' with what was delivered to them and of them, and deliveries as ordinary spans or frames."""
    posts = [
        _Posted(node, node.facts)
        for node in nodes.values()
        if node.facts is not None and node.facts.kind is Kind.DELIVERY
    ]
    if not posts:
        return nodes
    posts.sort(key=lambda post: post.node.order)
    found = {**nodes, **{post.node.key: replace(post.node, facts=_frame(post.facts), links=()) for post in posts}}
    run_of, given = _runs(posts), _given(posts, nodes)
    by_run: dict[str, list[_Posted]] = {}
    for post in posts:
        by_run.setdefault(run_of[post.node.trace_id], []).append(post)
    for key, node in nodes.items():
        facts, delivery = node.facts, node.facts.delivery if node.facts is not None else None
        if facts is None or delivery is None or not _is_invocation(facts, given.get(key, ())):
            continue
        near = by_run.get(run_of.get(node.trace_id, ""), ())
        told = _told(delivery.recipient, node.started_ns, near, given.get(key, ()))
        setting = None if told.conventions else facts.setting  # where the bus is told of, there is nothing to turn on
        found[key] = replace(node, facts=fill(changed(facts, kind=Kind.AGENT), told, setting=setting))
    return found


def _frame(facts: Facts) -> Facts | None:
    """What a delivery's span is besides: a frame around what its recipient does, where that has a name and is no agent."""
    if facts.weak_agent is None:
        return None
    return Facts(kind=Kind.WORKFLOW, conventions=facts.conventions, weak_agent=facts.weak_agent)


def _is_invocation(facts: Facts, gave: Iterable[_Posted]) -> bool:
    """An agent's span; or a delivery that asked an agent for its answer, and below which it was given with no span
    of its own."""
    return facts.kind is Kind.AGENT or (facts.agent is not None and any(_answers(post.facts) for post in gave))


def _answers(facts: Facts) -> bool:
    return facts.reply is not None or facts.usage != NO_USAGE


def _runs(posts: Iterable[_Posted]) -> dict[str, str]:
    """To which run each trace belongs: the traces that links join, by the first of them."""
    first: dict[str, str] = {}

    def top(trace_id: str) -> str:
        while (above := first.setdefault(trace_id, trace_id)) != trace_id:
            first[trace_id] = first[above]  # halves the way for the next
            trace_id = above
        return trace_id

    for post in posts:
        top(post.node.trace_id)
        for link in post.node.links:
            one, other = sorted((top(post.node.trace_id), top(link.trace_id)))
            first[other] = one
    return {trace_id: top(trace_id) for trace_id in list(first)}


def _given(posts: Iterable[_Posted], nodes: Mapping[Key, Node]) -> dict[Key, list[_Posted]]:
    """What each agent gave, in the order in which it was sent: once, however many it was delivered to."""
    sent: dict[Key, dict[Key, tuple[Node, _Posted]]] = {}
    for post in posts:
        for link in post.node.links:
            sender = nodes.get((link.trace_id, link.span_id))
            agent = None if sender is None else _agent_around(sender, nodes)
            if sender is None or agent is None:
                continue
            known = sent.setdefault(agent, {}).get(sender.key)
            if known is None or (known[1].facts.output is None and post.facts.output is not None):
                sent[agent][sender.key] = sender, post
    return {
        agent: [post for _, post in sorted(found.values(), key=lambda pair: pair[0].order)]
        for agent, found in sent.items()
    }


def _agent_around(node: Node, nodes: Mapping[Key, Node]) -> Key | None:
    """The agent of the bus that the span is below, or the delivery that asked one for its answer."""
    above, seen = nodes.get((node.trace_id, node.parent_id or "")), {node.span_id}
    while above is not None and above.span_id not in seen:
        facts = above.facts
        if facts is not None and (facts.kind is Kind.AGENT or (facts.kind is Kind.DELIVERY and facts.agent)):
            return above.key if facts.delivery is not None else None
        seen.add(above.span_id)
        above = nodes.get((above.trace_id, above.parent_id or ""))
    return None


def _told(address: str | None, started_ns: int, near: Sequence[_Posted], gave: Sequence[_Posted]) -> Facts:
    """What the deliveries say of one invocation: the thread until it began, and the answer, or else all that it gave."""
    heard = _thread(address, [post for post in near if post.node.started_ns <= started_ns])
    answers = [post for post in gave if _answers(post.facts)]
    told = answers[-1:] or gave
    output = tuple(message for post in told for message in post.facts.output or ())
    used = (*heard, *told)
    return Facts(
        kind=Kind.AGENT,
        conventions=tuple(dict.fromkeys(name for post in used for name in post.facts.conventions)),
        input=tuple(message for post in heard for message in _as_heard(post, address)) or None,
        output=output or None,
        reply=next((post.facts.reply for post in answers[-1:]), None),
        usage=answers[-1].facts.usage if answers else NO_USAGE,
        aggregated=bool(answers),
        marks=tuple(
            dict.fromkeys(
                mark
                for field, posts in (("input", heard), ("output", told))
                for post in posts
                for mark in post.facts.marks
                if mark.field == field
            )
        ),
        cut=tuple(dict.fromkeys(tail for post in used for tail in post.facts.cut)),
        pseudo_tools=tuple(dict.fromkeys(name for post in told for name in post.facts.pseudo_tools)),
    )


def _thread(address: str | None, before: Sequence[_Posted]) -> list[_Posted]:
    """What reached the agent, and what it answered earlier, since the conversation began; nothing twice."""
    found: list[_Posted] = []
    sent: set[tuple[Key, ...]] = set()
    for post in before:
        delivery = post.facts.delivery
        if delivery is None or address is None or address not in (delivery.recipient, delivery.sender):
            continue
        if delivery.recipient == address and post.facts.new_from is not None:
            found.clear()
        links = tuple((link.trace_id, link.span_id) for link in post.node.links)
        if delivery.recipient != address and (post.facts.reply is None or links in sent):
            continue
        sent.add(links)
        found.append(post)
    return found


def _as_heard(post: _Posted, address: str | None) -> tuple[Message, ...]:
    """What a delivery adds to the thread: what the agent was given, or its own words."""
    assert post.facts.delivery is not None
    if post.facts.delivery.recipient == address:
        return post.facts.input or ()
    return (Message(role="assistant", parts=(TextPart(text=post.facts.reply or ""),)),)
