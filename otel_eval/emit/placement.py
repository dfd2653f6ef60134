"""Where an evaluation span goes, and the ids it gets: computed, so that a judge's call can name its parent beforehand.

An evaluation that starts within ``child_within`` of the end of what it judges is a child of the agent span: one sees it in
the agent's trace. A later one would make that trace look hours long and count as the agent's latency, so it gets a trace
of its own with a link to the agent span; so does every re-run, and what has no agent span with an end. The ids of our own
traces and spans are keyed (:class:`~otel_eval.loop_guard.LoopGuard`), so that any replica knows them when they come back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from otel_eval.loop_guard import LoopGuard
from otel_eval.record import Origin

_ID = re.compile(r"(?!0{32})[0-9a-f]{32}(?!0{16})[0-9a-f]{16}")
CHILD_WITHIN_NS = 5 * 60 * 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Ids in lower-case hex. With ``parent_span_id`` a child; else in a trace of its own, with ``link`` (trace id, span id).

    Neither is given only where the judged ids are not ids that OpenTelemetry knows.
    """

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    link: tuple[str, str] | None = None


def place(
    guard: LoopGuard,
    *,
    evaluation_id: str,
    judged_trace_id: str,
    judged_span_id: str,
    judged_ended_ns: int | None,
    started_ns: int,
    origin: Origin = Origin.LIVE,
    child_within_ns: int = CHILD_WITHIN_NS,
) -> Placement:
    """Where the span of that evaluation goes. ``judged_ended_ns`` is None where the agent span never came."""
    span_id = guard.span_id(evaluation_id)
    if not (_ID.fullmatch(judged_trace_id + judged_span_id)):
        return Placement(trace_id=guard.trace_id(evaluation_id), span_id=span_id)
    near = judged_ended_ns is not None and started_ns - judged_ended_ns <= child_within_ns
    if near and origin is Origin.LIVE:
        return Placement(trace_id=judged_trace_id, span_id=span_id, parent_span_id=judged_span_id)
    return Placement(trace_id=guard.trace_id(evaluation_id), span_id=span_id, link=(judged_trace_id, judged_span_id))


def judge_span_ids(guard: LoopGuard, evaluation_id: str, conversation_ids: Iterable[str]) -> Iterator[str]:
    """The ids of the spans of an evaluation's judge calls, in order.

    The first call of a conversation has the id that its ``traceparent`` carries, so that a gateway's spans hang below it;
    a second one in the same conversation (the answer was cut, the format was refused) gets one of its own.
    """
    calls: Counter[str] = Counter()
    for conversation_id in conversation_ids:
        calls[conversation_id] += 1
        again = calls[conversation_id]
        yield guard.span_id(evaluation_id, conversation_id if again == 1 else f"{conversation_id}#{again}")
