"""The tool calls of one turn: spans of tools joined with the requests and results in the messages.

Spans know times and errors, messages know what the model asked for and was shown. They are joined by call id; where ids
differ or are missing, by name and arguments, then by name and order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from otel_eval.assemble.handoffs import handed_over
from otel_eval.assemble.requested_calls import Asked, canonical, pairs
from otel_eval.assemble.tool_call import Lacking, tool_call
from otel_eval.assemble.tool_spans import ToolSpan, alike, of_one_id
from otel_eval.conventions.facts import MISSING, Missing
from otel_eval.interaction import Failure, GapKind, JsonValue, ToolCall


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
    missing = Lacking(
        seen=any(not span.facts.failures_unseen for span in spans), setting=setting, tails=tails, lost=lost
    )
    matches = _join(spans, asked)
    joined = {id(request): span for span, request in matches if request is not None}
    calls: list[ToolCall] = []
    for request in asked:
        if request.name in pseudo or (request.earlier and id(request) not in joined):
            continue
        calls.append(tool_call(joined.get(id(request)), request, missing))
    latest = max((call.started_ns for call in calls if call.started_ns is not None), default=0)
    for span, matched in matches:
        if matched is None and span.facts.tool not in pseudo:
            call = tool_call(span, None, missing)
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
    for test in (_alike, _compatible):
        for index, span in enumerate(spans):
            same = by_id.get(span.facts.call_id, ()) if span.facts.call_id is not None and index not in named else ()
            found = next((each for each in same if id(each) not in taken and test(span, each)), None)
            if found is not None:
                named[index] = found
                taken.add(id(found))
    rest = [span for index, span in enumerate(spans) if index not in named]
    others = iter(pairs(rest, [request for request in asked if id(request) not in taken], _SPAN_KEYS))
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


def _alike(span: ToolSpan, request: Asked) -> bool:
    return alike(span.facts.tool, request.name)


def _compatible(span: ToolSpan, request: Asked) -> bool:
    facts = span.facts
    return facts.tool is None or of_one_id(
        facts.call_id, facts.tool, request.name, (facts.arguments, request.arguments)
    )
