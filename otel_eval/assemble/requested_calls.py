"""The tool calls that messages tell of, each once: the model's requests, with the results that it was shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from otel_eval.assemble.tool_spans import alike, of_one_id
from otel_eval.conventions.facts import MISSING, Missing
from otel_eval.conventions.reading.messages import results_in
from otel_eval.interaction import JsonValue, Message, ToolCallPart, ToolResultPart
from otel_eval.json_text import dumps

T = TypeVar("T")


@dataclass(slots=True)
class Asked:
    """A tool call as messages have it. ``earlier``: it was made before this invocation, unless a span says otherwise."""

    name: str
    arguments: JsonValue
    call_id: str | None
    result: JsonValue | Missing = MISSING
    failed: bool = False
    earlier: bool = False


def asked_in(messages: Sequence[Message]) -> list[Asked]:
    """The calls in one list of messages, each with the result that follows it."""
    calls: list[Asked] = []
    open_calls: list[Asked] = []
    answered = {part.call_id for message in messages for part in results_in(message) if part.call_id is not None}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                call = Asked(part.name, part.arguments, part.call_id)
                calls.append(call)
                open_calls.append(call)
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                _answer(open_calls, part, answered)
    return calls


def _answer(open_calls: list[Asked], part: ToolResultPart, answered: Collection[str]) -> None:
    """Gives the result to its call: by id, else by name, else by order, but for calls whose own results are there."""
    tests: tuple[Callable[[Asked], bool], ...] = (
        lambda call: part.call_id is not None and call.call_id == part.call_id,
        lambda call: part.name is not None and call.name == part.name,
        lambda call: part.call_id is None or call.call_id is None or part.name is None,
    )
    for test in tests:
        for call in open_calls:
            if call.result is MISSING and test(call) and (call.call_id == part.call_id or call.call_id not in answered):
                call.result, call.failed = MISSING if part.result is None else part.result, part.failed
                open_calls.remove(call)
                return


def merge(known: list[Asked], more: Sequence[Asked], before: int = 0) -> None:
    """Adds what another list of messages tells, each call once, also where the ids of the two lists differ.

    ``before``: so many of the first known calls were made before all of them, see :func:`answered_by_order`.
    """
    by_id = {call.call_id: call for call in known if call.call_id is not None}
    same = [(call, by_id.get(call.call_id) if call.call_id is not None else None) for call in more]
    same = [(call, match) for call, match in same if match is not None and _of_one_id(call, match)]
    taken, placed = {id(match) for _, match in same}, {id(call) for call, _ in same}
    rest = [call for call in more if id(call) not in placed]
    free = [call for call in known[before:] if id(call) not in taken]
    matches = pairs(rest, free, _KEYS) if rest and free else [(call, None) for call in rest]
    for call, match in (*same, *matches):
        if match is None:
            known.append(call)
            continue
        if match.result is MISSING:
            match.result, match.failed = call.result, call.failed
        if match.arguments is None or (match.arguments == {} and call.arguments):
            match.arguments = (
                call.arguments
            )  # a stream's beginning has an empty object (OpenInference for Bedrock in JS)
        if match.call_id is None:
            match.call_id = call.call_id


def _of_one_id(a: Asked, b: Asked) -> bool:
    return of_one_id(a.call_id, a.name, b.name, (a.arguments, b.arguments))


def longest(conversations: Iterable[Sequence[Message]]) -> list[Sequence[Message]]:
    """Without those that the next one begins with: each model call of a loop is shown all that the one before it was."""
    kept: list[Sequence[Message]] = []
    for messages in conversations:
        if kept and len(kept[-1]) <= len(messages) and kept[-1] == messages[: len(kept[-1])]:
            kept.pop()
        kept.append(messages)
    return kept


def answer(known: Sequence[Asked], messages: Sequence[Message]) -> None:
    """Gives calls that nothing answered the results of messages that do not repeat the request, by call id.

    Some histories lack the model's request and keep the tool's answer to it (OpenLIT, LiteLLM; a trimmed memory). Where
    an id stands several times, the answers go to the calls in order; answers without any id go to all calls in order.
    """
    if answered_by_order(known, messages):
        for call, told in zip(known, _first_results(messages), strict=False):
            if call.result is MISSING and told.result is not None:
                call.result, call.failed = told.result, told.failed
        return
    requested = {part.call_id for message in messages for part in message.parts if isinstance(part, ToolCallPart)}
    by_id: dict[str, list[Asked]] = {}
    for call in known:
        if call.call_id is not None and call.call_id not in requested:
            by_id.setdefault(call.call_id, []).append(call)
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResultPart) and part.call_id is not None and (calls := by_id.get(part.call_id)):
                call = calls.pop(0)
                if call.result is MISSING and part.result is not None:
                    call.result, call.failed = part.result, part.failed


def answered_by_order(known: Sequence[Asked], messages: Sequence[Message]) -> int:
    """How many of the first calls the results before any request answer that have neither id nor name; 0 for too many."""
    results = _first_results(messages)
    return 0 if len(results) > len(known) or any(part.call_id or part.name for part in results) else len(results)


def _first_results(messages: Sequence[Message]) -> list[ToolResultPart]:
    results: list[ToolResultPart] = []
    for message in messages:
        if any(isinstance(part, ToolCallPart) for part in message.parts):
            break
        results += results_in(message)
    return results


_KEYS: tuple[Callable[[Asked, Asked], bool], ...] = (
    lambda a, b: alike(a.name, b.name) and canonical(a.arguments) == canonical(b.arguments),
    lambda a, b: alike(a.name, b.name) and (a.arguments is None or b.arguments is None),
)


def pairs(
    more: Sequence[T], known: Sequence[Asked], tests: Sequence[Callable[[T, Asked], bool]]
) -> list[tuple[T, Asked | None]]:
    """For each of ``more`` its match in ``known``, none used twice; stronger tests go first."""
    matched: dict[int, Asked] = {}
    free = dict(enumerate(known))
    for test in tests:
        for index, call in enumerate(more):
            if index in matched:
                continue
            match = next((place for place, other in free.items() if test(call, other)), None)
            if match is not None:
                matched[index] = free.pop(match)
    return [(call, matched.get(index)) for index, call in enumerate(more)]


def canonical(value: object) -> str:
    """Arguments as a text that is equal for equal arguments."""
    return dumps(value, sort_keys=True).decode()
