"""Bare loops: model calls without an agent's span, grouped by their growing history, also across traces.

A call continues another if its input begins with the other's input followed by the other's output. Where a user speaks
in between, it begins the next turn: an Interaction of its own. Calls whose content was not captured can only be told to
belong together by being below one span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from otel_eval.assemble.calls import Call, last_of
from otel_eval.assemble.nodes import Node
from otel_eval.assemble.requested_calls import canonical
from otel_eval.assemble.transcript import answer_in
from otel_eval.assemble.tree import Tree
from otel_eval.assemble.unattached_calls import place_lost, place_untold
from otel_eval.conventions.facts import TOOL_CALLS, Kind
from otel_eval.conventions.reading.messages import asked_for, asks, call_ids_in, calls_in, results_in
from otel_eval.conventions.reading.reasons import ends_the_turn
from otel_eval.identity import digest
from otel_eval.interaction import Message, ToolCallPart


@dataclass(slots=True, kw_only=True)
class Loop:
    """The calls of one turn, in order, and where the Interaction hangs."""

    calls: list[Call]
    trace_id: str = ""
    span_id: str = ""
    path: tuple[str, ...] = ()
    tools: list[Node] = field(default_factory=list)
    name: str | None = None
    outer: Loop | None = None


def loops_of(calls: Sequence[Call], trees: dict[str, Tree]) -> list[Loop]:
    """The loops among the calls, each under the id of its common parent where that parent is its own alone."""
    loops = [Loop(calls=chain) for chain in _chains(calls, trees)]
    for loop in loops:
        loop.path = _common_path(loop.calls, trees)
    owners = Counter((loop.calls[0].node.trace_id, loop.path[-1]) for loop in loops if loop.path)
    for loop in loops:
        first = loop.calls[0].node
        loop.trace_id = first.trace_id
        shared = not loop.path or owners[first.trace_id, loop.path[-1]] > 1
        loop.span_id = first.span_id if shared else loop.path[-1]
        parent = None if shared else trees[first.trace_id].by_id.get(loop.span_id)
        loop.name = None if parent is None or parent.kind() is Kind.STEP else parent.name or None
    for loop in loops:
        loop.outer = _outer(loop, loops)
    return loops


def _outer(loop: Loop, loops: Sequence[Loop]) -> Loop | None:
    """The loop that this one ran within: below the same span as that, further down, between two of its calls."""
    around = [
        other
        for other in loops
        if other.trace_id == loop.trace_id
        and 0 < len(other.path) < len(loop.path)
        and loop.path[: len(other.path)] == other.path
        and other.calls[0].node.ended_ns <= loop.calls[0].node.started_ns
        and max(call.node.ended_ns for call in loop.calls) <= other.calls[-1].node.started_ns
    ]
    return max(around, key=lambda other: len(other.path), default=None)


def _common_path(calls: Sequence[Call], trees: dict[str, Tree]) -> tuple[str, ...]:
    """The spans that all calls are below, from the top; none where they are in several traces."""
    if len({call.node.trace_id for call in calls}) > 1:
        return ()
    paths = [trees[call.node.trace_id].path_ids(call.node) for call in calls]
    common: list[str] = []
    for ids in zip(*paths, strict=False):
        if len(set(ids)) > 1:
            break
        common.append(ids[0])
    return tuple(common)


def _chains(calls: Sequence[Call], trees: dict[str, Tree]) -> list[list[Call]]:
    shown = {call_id for call in calls for message in call.input for call_id in call_ids_in(message)}
    asked = {part.call_id for call in calls for part in asked_for(call.output)}
    untold: list[Call] = []
    told: list[Call] = []
    lost: list[Call] = []
    for call in calls:
        if not _tells(call, shown):
            untold.append(call)
        else:
            (lost if _lost(call, shown) or _answers_nobody(call, asked) else told).append(call)
    parents = _continuations(told)
    chain_of: dict[tuple[str, str], list[Call]] = {}
    chains: list[list[Call]] = []
    for call in sorted(told, key=lambda call: call.node.order):  # what a call continues is before it
        before = parents.get(call.node.key)
        chain = chain_of[before.node.key] if before is not None else []
        if before is None:
            chains.append(chain)
        chain.append(call)
        chain_of[call.node.key] = chain
    place_untold(untold, chains, trees)
    place_lost(lost, chains, trees)
    for chain in chains:
        chain.sort(key=lambda call: call.node.order)
    return sorted(chains, key=lambda chain: chain[0].node.order)


def _tells(call: Call, shown: set[str]) -> bool:
    """Whether it can be told what it continues, or what continues it: by what went in, by a text, by the ids of tool calls.

    Some instrumentations write which tools were asked for even where content is off.
    """
    return bool(call.input) or any(message.text or call_ids_in(message) & shown for message in call.output)


def _lost(call: Call, shown: set[str]) -> bool:
    """Whether what went in is not there, hidden or cut, so that no history leads to the call, and none from it."""
    return not call.input and not any(call_ids_in(message) & shown for message in call.output)


def _answers_nobody(call: Call, asked: Set[str | None]) -> bool:
    """Whether all that went in are results of tools, that no known call asked for: the rest is the provider's to know."""
    if not call.input or any(message.role != "tool" for message in call.input):
        return False
    results = [part for message in call.input for part in results_in(message)]
    return bool(results) and asked.isdisjoint(part.call_id for part in results)


def _continuations(calls: Sequence[Call]) -> dict[tuple[str, str], Call]:
    """For each call the one of the same turn that it continues."""
    by_prefix: dict[str, list[Call]] = {}
    prefixes = {call.node.key: _prefixes(_spoken(call.input)) for call in calls}
    for call in calls:
        if prefixes[call.node.key]:
            by_prefix.setdefault(prefixes[call.node.key][-1], []).append(call)
    taken: dict[tuple[str, str], Call] = {}
    used: set[tuple[str, str]] = set()
    for call in sorted(calls, key=lambda call: call.node.order):
        spoken, mine = _spoken(call.input), prefixes[call.node.key]
        best: Call | None = None
        for length in range(len(mine), 0, -1):
            if length < len(mine) and asks(spoken[length]):
                break  # a user speaks: what is before belongs to an earlier turn
            candidates = [
                other
                for other in by_prefix.get(mine[length - 1], ())
                if other.node.key != call.node.key
                and other.node.order < call.node.order
                and other.node.key not in used
                and _continues(other, spoken[length:])
                and (length < len(mine) or _is_retry(other, call))
                and not _of_others(other, call)
            ]
            if candidates:
                best = max(candidates, key=lambda other: (_shares_ids(other, spoken[length:]), other.node.order))
                break
        if best is None:
            best = _by_call_ids(call, calls, used)
        if best is not None:
            taken[call.node.key] = best
            used.add(best.node.key)
    return taken


def _is_retry(before: Call, call: Call) -> bool:
    """Whether the same input again is the same work. In another trace, long after, it is somebody else who asks the same."""
    wait_ns = call.node.started_ns - before.node.ended_ns
    if before.facts.failure is None:
        return before.node.trace_id == call.node.trace_id and wait_ns >= 0
    return before.node.trace_id == call.node.trace_id or wait_ns <= _LONGEST_WAIT_NS


_LONGEST_WAIT_NS = 30 * 10**9
"""Between two attempts. The clients of OpenAI and Anthropic wait 8 s at the most."""


def _of_others(one: Call, other: Call) -> bool:
    """Whether the two say that they are of different conversations, or of different users."""
    mine, theirs = one.facts, other.facts
    return any(
        a is not None and b is not None and a != b
        for a, b in ((mine.session, theirs.session), (mine.user_id, theirs.user_id))
    )


def _spoken(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.role != "system"]


def _continues(before: Call, rest: Sequence[Message]) -> bool:
    """Whether the rest of a later call's input begins with what the earlier one answered."""
    if not rest:
        return before.facts.failure is not None or _said_nothing(before)  # the same input again: a retry
    if not before.output:
        return before.facts.failure is None and rest[0].role == "assistant"
    said = list(asked_for(before.output))
    shown: list[ToolCallPart] = []
    for message in rest:
        if message.role != "assistant":
            break
        shown += calls_in(message)
    results = rest if shown else _without_words(before, rest)
    if said and results and results[0].role == "tool":
        return _answers(said, results)
    if not said and shown and (words := (answer_in(before.output) or "").strip()):
        return words == (rest[0].text or "").strip()  # what it asked for beside its words was lost (OpenLLMetry for JS)
    if said or shown:
        return sorted((part.name, canonical(part.arguments)) for part in said) == sorted(
            (part.name, canonical(part.arguments)) for part in shown
        ) or bool({part.call_id for part in said if part.call_id} & {part.call_id for part in shown if part.call_id})
    return (answer_in(before.output) or "").strip() == (rest[0].text or "").strip()


def _said_nothing(call: Call) -> bool:
    """Whether it answered without a word and asked for nothing that is known.

    OpenLIT 1.15 for JavaScript writes neither what tools a model asked for through the Responses API, nor what they gave.
    """
    said = call.facts.output
    return said is not None and not any(message.text or calls_in(message) for message in said)


def _without_words(before: Call, messages: Sequence[Message]) -> Sequence[Message]:
    """Without the model's messages at the beginning that hold no more than the words beside its request, or nothing."""
    words = {"", "\n".join(filter(None, (message.text for message in before.output))).strip()}
    start = next(
        (n for n, m in enumerate(messages) if m.role != "assistant" or (m.text or "").strip() not in words),
        len(messages),
    )
    return messages[start:]


def _answers(said: Sequence[ToolCallPart], rest: Sequence[Message]) -> bool:
    """Whether a history that lacks the request goes on with results of what was asked for."""
    known, results = {part.call_id for part in said}, []
    for message in rest:
        if message.role != "tool":
            break
        results += results_in(message)
    return len(results) == len(said) and all(part.call_id is None or part.call_id in known for part in results)


def _shares_ids(before: Call, rest: Sequence[Message]) -> int:
    mine = {part.call_id for part in asked_for(before.output) if part.call_id}
    return len(mine & {call_id for message in rest for call_id in call_ids_in(message)})


def _by_call_ids(call: Call, calls: Sequence[Call], used: set[tuple[str, str]]) -> Call | None:
    """Where histories were trimmed or rewritten: the call that asked for the tools whose results come last, if it is one."""
    wanted: set[str] = set()
    for message in reversed(call.input):
        found = {part.call_id for part in results_in(message) if part.call_id}
        if not found:
            break
        wanted |= found
    if not wanted:
        return None
    askers = [
        other
        for other in calls
        if other.node.key not in used
        and other.node.order < call.node.order
        and not _of_others(other, call)
        and wanted & {part.call_id for part in asked_for(other.output)}
    ]
    return askers[0] if len(askers) == 1 else None


def message_key(message: Message) -> str:
    """Equal for messages that say the same, whatever their ids."""
    calls = [(part.name, canonical(part.arguments)) for part in calls_in(message)]
    results = [canonical(part.result) for part in results_in(message)]
    return digest(message.role, (message.text or "").strip(), repr(calls), repr(results))


def _prefixes(messages: Sequence[Message]) -> list[str]:
    """For each message a key of the conversation up to and with it."""
    keys, before = [], ""
    for message in messages:
        before = digest(before, message_key(message))
        keys.append(before)
    return keys


def is_answered(loop: Loop) -> bool:
    """Whether the last call gave a text and asked for no tool, or failed: nothing more is to come.

    Where what it gave is not captured, its finish reason tells, unless tools may have been asked for all the same.
    Gemini's is the same for a call that asks for tools: such a loop goes on when its next call comes, as one that is late.
    """
    last = last_of(loop.calls)
    if last.facts.failure is not None or last.answer is not None:
        return True
    if last.output or any(mark.field == TOOL_CALLS for mark in last.facts.marks):
        return False
    return any(map(ends_the_turn, last.facts.finish_reasons))
