"""Runs of a thread that a service keeps: an agent's invocation made of many requests, each a span, mostly side by side.

A message is put into the thread, a run is started and asked for until it wants the results of tools or has ended, and what
it said is fetched at last. The span that started the run stands for the invocation, until the run's end: it was asked what
had been put into the thread since the run before, and gave what any request got of it. A run that nobody started here is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from otel_eval.assemble.nodes import Node
from otel_eval.conventions.facts import NO_USAGE, TOOL_CALLS, Facts, Kind, Mark, fill
from otel_eval.conventions.reading.messages import asked_for, call_ids_in, results_in
from otel_eval.frozen import changed
from otel_eval.interaction import GapKind, Message

Key: TypeAlias = tuple[str, str]


@dataclass(slots=True)
class _Run:
    """A run's requests in order, and what was put into the thread before it."""

    requests: list[Node] = field(default_factory=list)
    history: tuple[Message, ...] = ()
    given: tuple[Message, ...] = ()


def threaded(nodes: Mapping[Key, Node]) -> Mapping[Key, Node]:
    """The nodes, with each run as an agent's span, and the other requests about a thread as ordinary ones."""
    requests: dict[str, list[Node]] = {}
    for node in nodes.values():
        if node.facts is not None and node.facts.thread is not None:
            requests.setdefault(node.facts.thread.id, []).append(node)
    if not requests:
        return nodes
    found = dict(nodes)
    for about in requests.values():
        found.update((node.key, replace(node, facts=None)) for node in about)
        for run in _runs(sorted(about, key=lambda node: node.order)):
            top = run.requests[0]
            found[top.key] = replace(top, facts=_invocation(run), ended_ns=_ended(run))
    return found


def _ended(run: _Run) -> int:
    """When the last request about it ended, that was made before its end was known; 0 where it may still go on."""
    last = 0
    for node, facts in _told(run.requests):
        last = max(last, node.ended_ns)
        assert facts.thread is not None
        if facts.thread.ended or facts.failure is not None:
            return last
    said = any(facts.output and not any(asked_for(facts.output)) for _, facts in _told(run.requests))
    return last if said else 0


def _runs(requests: Sequence[Node]) -> list[_Run]:
    """The runs that were started here, in order, each with what was put into the thread until then."""
    started: dict[str, _Run] = {}
    given: tuple[Message, ...] = ()
    for node, facts in _told(requests):
        assert facts.thread is not None
        if facts.thread.run is None:
            given += facts.input or ()
            continue
        run = started.get(facts.thread.run)
        if run is None and facts.kind is Kind.AGENT:
            run = started[facts.thread.run] = _Run(given=given)
            given = ()
        if run is not None:
            run.requests.append(node)
    history: tuple[Message, ...] = ()
    for run in started.values():
        run.history = history
        history += (*run.given, *_output(run))
    return list(started.values())


def _told(nodes: Iterable[Node]) -> Iterator[tuple[Node, Facts]]:
    return ((node, node.facts) for node in nodes if node.facts is not None)


def _invocation(run: _Run) -> Facts:
    """What the requests say together: of what changes the last one's, as the usage of a run is its sum until then."""
    told = [facts for _, facts in _told(run.requests)]
    own = tuple(message for facts in told[:1] for message in facts.input or () if message.role == "user")
    facts = told[0]
    for more in told[1:]:
        facts = fill(facts, more)
    output = _output(run)
    asked_ids = {part.call_id for part in asked_for(output)}
    unasked = any(part.call_id not in asked_ids for message in output for part in results_in(message))
    untold = (Mark(field=TOOL_CALLS, kind=GapKind.NOT_CAPTURED),) if unasked else ()
    failure = next((more.failure for more in reversed(told) if more.failure is not None), None)
    return changed(
        facts,
        kind=Kind.AGENT,
        input=(*run.history, *run.given, *own) or None,
        new_from=len(run.history) if run.given or own else None,
        output=output or None,
        usage=next((more.usage for more in reversed(told) if more.usage != NO_USAGE), NO_USAGE),
        aggregated=True,
        failure=failure,
        marks=facts.marks + untold,
        thread=None,
    )


def _output(run: _Run) -> tuple[Message, ...]:
    """What was asked for and what its tools gave, in the order of the results, and what was said; nothing twice.

    A list of what a run did may begin with the newest.
    """
    messages: dict[str, Message] = {}
    for _, facts in _told(run.requests):
        for message in (*(said for said in facts.input or () if said.role == "tool"), *(facts.output or ())):
            messages.setdefault(repr(message), message)
    results = [message for message in messages.values() if message.role == "tool"]
    requests = [message for message in messages.values() if any(asked_for((message,)))]
    said = [message for message in messages.values() if message not in results and message not in requests]
    ordered: list[Message] = []
    for result in results:
        ids = {part.call_id for part in results_in(result)}
        ordered += [asking for asking in requests if ids & call_ids_in(asking) and asking not in ordered]
        ordered.append(result)
    return (*ordered, *(asking for asking in reversed(requests) if asking not in ordered), *said)
