"""The tool calls of one turn: spans of tools joined with the requests and results in the messages.

Spans know times and errors, messages know what the model asked for and was shown. They are joined by call id; where ids
differ or are missing, by name and arguments, then by name and order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from otel_eval.assemble.handoffs import handed_over
from otel_eval.assemble.nodes import is_open
from otel_eval.assemble.tool_spans import ToolSpan, alike, of_one_id
from otel_eval.conventions.facts import MISSING, Facts, Kind, Missing
from otel_eval.conventions.reading.cutting import LIMIT_SETTING, is_cut
from otel_eval.conventions.reading.messages import results_in
from otel_eval.conventions.reading.trouble import error_in_result, is_bare
from otel_eval.conventions.reading.values import is_placeholder
from otel_eval.interaction import Failure, Gap, GapKind, JsonValue, Message, ToolCall, ToolCallPart, ToolResultPart
from otel_eval.json_text import dumps

T = TypeVar("T")

_KIND = re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception)")
"""An error of which a span says the type alone: what went wrong is what the model was shown for a result."""

_TOOL_ERROR = "tool_error"
"""All that a span of the Model Context Protocol says of a tool whose result is an error (semantic conventions, ``error.type``)."""


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
    same = [(call, match) for call, match in same if match is not None and of_one_id(call.name, match.name)]
    taken, placed = {id(match) for _, match in same}, {id(call) for call, _ in same}
    rest = [call for call in more if id(call) not in placed]
    free = [call for call in known[before:] if id(call) not in taken]
    pairs = _pairs(rest, free, _KEYS) if rest and free else [(call, None) for call in rest]
    for call, match in (*same, *pairs):
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


def _pairs(
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


def tool_calls(
    spans: Sequence[ToolSpan],
    asked: Sequence[Asked],
    *,
    is_handoff: Callable[[str], bool],
    pseudo: frozenset[str],
    setting: str | None,
    raised: Failure | None = None,
    tails: frozenset[str] = frozenset(),
    lost: GapKind | None = None,
) -> tuple[ToolCall, ...]:
    """The tool calls in the order in which they were asked for, else started. Handoffs and pseudo tools are none.

    ``raised``: the exception of the program's own with which the invocation ended. If one call alone was left without an
    answer and no span tells of it, that is what it raised: nothing else ran. ``tails``: the ends of texts that a limit cut.
    ``lost``: what became of messages that are not there whole, and so of what no span tells.
    """
    missing = _Missing(
        seen=any(not span.facts.failures_unseen for span in spans), setting=setting, tails=tails, lost=lost
    )
    matches = _join(spans, asked)
    joined = {id(request): span for span, request in matches if request is not None}
    calls: list[ToolCall] = []
    for request in asked:
        if request.name in pseudo or (request.earlier and id(request) not in joined):
            continue
        calls.append(_tool_call(joined.get(id(request)), request, missing))
    latest = max((call.started_ns for call in calls if call.started_ns is not None), default=0)
    for span, matched in matches:
        if matched is None and span.facts.tool not in pseudo:
            call = _tool_call(span, None, missing)
            if call.started_ns is None or call.started_ns >= latest:
                calls.append(call)
                latest = call.started_ns or latest
            else:
                _insert(calls, call)
    calls = [call for call in calls if not (is_handoff(call.name) or handed_over(call))]
    unanswered = [index for index, call in enumerate(calls) if call.span_id is None and _is_open(call)]
    if raised is not None and len(unanswered) == 1 and unanswered[0] == len(calls) - 1:
        gaps = tuple(gap for gap in calls[-1].gaps if gap.field != "result")
        calls[-1] = replace(calls[-1], error=str(raised), gaps=gaps)
    return tuple(calls)


def _is_open(call: ToolCall) -> bool:
    return call.error is None and call.gap("result") is not None


def _insert(calls: list[ToolCall], call: ToolCall) -> None:
    """Before the first call that started later."""
    for index, other in enumerate(calls):
        if other.started_ns is not None and call.started_ns is not None and other.started_ns > call.started_ns:
            calls.insert(index, call)
            return
    calls.append(call)


def _join(spans: Sequence[ToolSpan], asked: Sequence[Asked]) -> list[tuple[ToolSpan, Asked | None]]:
    by_id: dict[str, list[Asked]] = {}
    for request in asked:
        if request.call_id is not None:
            by_id.setdefault(request.call_id, []).append(request)
    named: dict[int, Asked] = {}
    taken: set[int] = set()
    for index, span in enumerate(spans):
        same = by_id.get(span.facts.call_id, ()) if span.facts.call_id is not None else ()
        fits = [each for each in same if id(each) not in taken and _compatible(span, each)]
        found = next((each for each in fits if alike(span.facts.tool, each.name)), fits[0] if fits else None)
        if found is not None:
            named[index] = found
            taken.add(id(found))
    rest = [span for index, span in enumerate(spans) if index not in named]
    others = iter(_pairs(rest, [request for request in asked if id(request) not in taken], _SPAN_KEYS))
    return [(span, named[index]) if index in named else next(others) for index, span in enumerate(spans)]


_SPAN_KEYS: tuple[Callable[[ToolSpan, Asked], bool], ...] = (
    lambda s, a: alike(s.facts.tool, a.name) and _gave(s, a),
    lambda s, a: (
        alike(s.facts.tool, a.name)
        and s.facts.arguments is not MISSING
        and canonical(s.facts.arguments) == canonical(a.arguments)
    ),
    lambda s, a: alike(s.facts.tool, a.name),
    lambda s, a: s.facts.tool is None,
)


def _gave(span: ToolSpan, request: Asked) -> bool:
    """Whether the model was shown what the span says that the tool gave, of a call with such arguments."""
    taken, result = span.facts.arguments, span.facts.result
    return (
        result is not MISSING
        and request.result is not MISSING
        and _is_same(result, request.result)
        and (taken is MISSING or not isinstance(taken, dict) or canonical(taken) == canonical(request.arguments))
    )


def _is_same(a: JsonValue | Missing, b: JsonValue | Missing) -> bool:
    return a == b and canonical(a) == canonical(b)


def _compatible(span: ToolSpan, request: Asked) -> bool:
    return span.facts.tool is None or of_one_id(span.facts.tool, request.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Missing:
    """What there is to say of arguments and results that are not there, or not whole.

    ``seen``: there are spans of tools, also of those that fail.
    """

    seen: bool
    setting: str | None
    tails: frozenset[str]
    lost: GapKind | None


def _tool_call(span: ToolSpan | None, request: Asked | None, missing: _Missing) -> ToolCall:
    facts = span.facts if span is not None else Facts(kind=Kind.TOOL)
    name = request.name if request is not None else facts.tool or "(unknown)"  # a span may have the tool's title
    arguments, result, error = facts.arguments, facts.result, facts.error
    if request is not None:
        if arguments is MISSING or (not isinstance(arguments, dict) and isinstance(request.arguments, dict)):
            arguments = request.arguments if request.arguments is not None else arguments
        if result is MISSING:
            result = request.result
        if error is None and request.failed:
            error = _text(request.result) if request.result is not MISSING else "failed"
        if facts.result is MISSING and request.result is not MISSING and (error is None or is_bare(error)):
            error = error_in_result(request.result, loop=not missing.seen) or error
        if error is not None and error == facts.error and (shown := _shown(request.result)):
            error = shown if error == _TOOL_ERROR else f"{error}: {shown}" if _KIND.fullmatch(error) else error
    absent = GapKind.INCOMPLETE if span is not None and is_open(span.node) else missing.lost or GapKind.NOT_CAPTURED
    gaps = _gaps(facts, arguments, result, error, missing, absent)
    return ToolCall(
        name=name,
        arguments=None if arguments is MISSING or is_placeholder(arguments) else arguments,
        result=None if error is not None or result is MISSING or is_placeholder(result) else result,
        error=error,
        call_id=facts.call_id or (request.call_id if request is not None else None),
        span_id=span.node.span_id if span is not None else None,
        started_ns=(span.node.started_ns or None) if span is not None else None,
        ended_ns=(span.node.ended_ns or None) if span is not None else None,
        gaps=gaps,
    )


def _shown(result: JsonValue | Missing) -> str | None:
    return result if isinstance(result, str) and not is_placeholder(result) else None


def _gaps(
    facts: Facts,
    arguments: JsonValue | Missing,
    result: JsonValue | Missing,
    error: str | None,
    missing: _Missing,
    absent: GapKind,
) -> tuple[Gap, ...]:
    setting, gaps = facts.setting or missing.setting, []
    for field, value in (("arguments", arguments), ("result", result)):
        kind = next((mark.kind for mark in facts.marks if mark.field == field), None)
        if is_placeholder(value):
            kind = GapKind.REDACTED
        if kind is None and value is not MISSING and is_cut(value, missing.tails) and not (field == "result" and error):
            gaps.append(Gap(field=field, kind=GapKind.TRUNCATED, setting=None if is_cut(value) else LIMIT_SETTING))
            continue
        if kind is None and value is MISSING and not (field == "result" and error is not None):
            dropped = any(mark.field == "*" for mark in facts.marks)
            kind = GapKind.DROPPED if dropped else absent
        if kind is not None and (value is MISSING or kind is not GapKind.NOT_CAPTURED):
            helps = kind in (GapKind.NOT_CAPTURED, GapKind.REDACTED)
            gaps.append(Gap(field=field, kind=kind, setting=setting if helps else None))
    return tuple(gaps)


def _text(value: JsonValue | Missing) -> str:
    return value if isinstance(value, str) else dumps(value).decode()


def canonical(value: object) -> str:
    """Arguments as a text that is equal for equal arguments."""
    return dumps(value, sort_keys=True).decode()
