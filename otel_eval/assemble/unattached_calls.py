"""Model calls that no history ties to a loop: which loop they go on with, by where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_eval.assemble.calls import Call
from otel_eval.assemble.tree import Tree
from otel_eval.conventions.facts import TOOL_CALLS
from otel_eval.conventions.reading.messages import asked_for


def place_untold(calls: Iterable[Call], chains: list[list[Call]], trees: dict[str, Tree]) -> None:
    """Calls without content: with the only chain below the same span, else with one another below it, else alone."""
    by_parent: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        path = trees[call.node.trace_id].path_ids(call.node)
        by_parent.setdefault((call.node.trace_id, path[-1] if path else call.node.span_id), []).append(call)
    for (trace_id, parent), untold in sorted(by_parent.items()):
        there = [
            chain
            for chain in chains
            if any(parent in trees[trace_id].path_ids(c.node) for c in chain if c.node.trace_id == trace_id)
        ]
        if len(there) == 1:
            there[0].extend(untold)
        elif len(there) > 1 and (running := _running(there, untold)) is not None:
            running.extend(untold)
        else:
            chains.append(list(untold))


def place_lost(calls: Iterable[Call], chains: list[list[Call]], trees: dict[str, Tree]) -> None:
    """Calls whose input is lost go on with the only chain below the same span that waits for what its tools gave."""
    for call in sorted(calls, key=lambda call: call.node.order):
        path = trees[call.node.trace_id].path_ids(call.node)
        waiting = [
            chain
            for chain in chains
            if path
            and (last := max(chain, key=lambda call: call.node.order)).node.trace_id == call.node.trace_id
            and last.node.ended_ns <= call.node.started_ns
            and _wants_tools(last)
            and path[-1] in trees[call.node.trace_id].path_ids(last.node)
        ]
        if len(waiting) == 1:
            waiting[0].append(call)
        else:
            chains.append([call])


def _wants_tools(call: Call) -> bool:
    """Whether it asked for tools, or may have: what it asked for is not written."""
    return any(asked_for(call.output)) or any(mark.field == TOOL_CALLS for mark in call.facts.marks)


def _running(chains: Sequence[list[Call]], untold: Sequence[Call]) -> list[Call] | None:
    """The chain that was waiting for an answer when the calls began."""
    start = min(call.node.started_ns for call in untold)
    before = [chain for chain in chains if chain[0].node.started_ns <= start]
    waiting = [chain for chain in before if max(chain, key=lambda c: c.node.ended_ns).answer is None]
    return waiting[0] if len(waiting) == 1 else None
