"""Verdicts as OpenTelemetry: for each record an evaluation span, one span per judge call below it, and the event.

The SDK makes them, so that they are what every exporter expects: a private provider that no sampler, limit or other
setting of the process reaches, with an id generator that hands out the computed ids. Nothing here depends on when it runs:
the same entry gives the same ids, times and attributes, so exporting again after a crash repeats, and adds nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from opentelemetry._logs import SeverityNumber
from opentelemetry.context import Context
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from otel_eval.emit.attributes import (
    EVENT_NAME,
    Wording,
    body,
    encodable,
    evaluation_attributes,
    judge_attributes,
    span_attributes,
)
from otel_eval.emit.placement import CHILD_WITHIN_NS, Placement, judge_span_ids, place
from otel_eval.emit.private_sdk import ComputedIds, Emitted, Ended, logger_provider, tracer_provider
from otel_eval.ledger.model import OutboxEntry
from otel_eval.loop_guard import SCOPE_NAME, LoopGuard
from otel_eval.outcome import Errored


class Verdicts:
    """Makes spans and events of outbox entries. Safe to call from several threads, one at a time inside."""

    def __init__(
        self,
        *,
        guard: LoopGuard,
        resource: Resource,
        version: str = "",
        child_within_ns: int = CHILD_WITHIN_NS,
        wording: Wording | None = None,
    ) -> None:
        self._guard = guard
        self._child_within_ns = child_within_ns
        self._wording = wording or Wording()
        self._lock = threading.Lock()
        self._ids = ComputedIds()
        self._ended = Ended()
        self._emitted = Emitted()
        self._tracer = tracer_provider(resource, self._ids, self._ended).get_tracer(SCOPE_NAME, version)
        self._logger = logger_provider(resource, self._emitted).get_logger(SCOPE_NAME, version)

    def spans(self, entries: Sequence[OutboxEntry]) -> tuple[ReadableSpan, ...]:
        """The evaluation span of each entry, followed by its judge calls'."""
        with self._lock:
            self._ended.take()  # what was made of a batch that broke
            for entry in entries:
                self._span(entry)
            return self._ended.take()

    def events(self, entries: Sequence[OutboxEntry]) -> tuple[ReadableLogRecord, ...]:
        """The ``gen_ai.evaluation.result`` event of each entry, on the judged span."""
        with self._lock:
            self._emitted.take()
            for entry in entries:
                self._event(entry)
            return self._emitted.take()

    def _span(self, entry: OutboxEntry) -> None:
        record, outcome = entry.record, entry.record.outcome
        placement = place(
            self._guard,
            evaluation_id=record.id,
            judged_trace_id=record.trace_id,
            judged_span_id=record.span_id,
            judged_ended_ns=entry.interaction_ended_ns,
            started_ns=record.started_ns,
            origin=record.origin,
            child_within_ns=self._child_within_ns,
        )
        self._ids.hand_out(placement.trace_id, placement.span_id)
        span = self._tracer.start_span(
            encodable(f"evaluation {record.evaluator}"),
            context=_parent(placement),
            attributes=span_attributes(record, entry.response_id, self._wording),
            links=[Link(_remote(*placement.link))] if placement.link else (),
            start_time=record.started_ns,
        )
        if isinstance(outcome, Errored):
            span.set_status(Status(StatusCode.ERROR, self._wording.text(outcome.reason)))
        span.end(record.ended_ns)
        within = set_span_in_context(NonRecordingSpan(span.get_span_context()), Context())
        ids = judge_span_ids(self._guard, record.id, (call.conversation_id for call in record.judge_calls))
        for call, span_id in zip(record.judge_calls, ids, strict=True):
            self._ids.hand_out(placement.trace_id, span_id)
            asked = self._tracer.start_span(
                encodable(f"chat {call.requested_model}"),
                context=within,
                kind=SpanKind.CLIENT,
                attributes=judge_attributes(call, self._wording),
                start_time=call.started_ns,
            )
            if call.error is not None:
                asked.set_status(Status(StatusCode.ERROR, self._wording.text(call.error)))
            asked.end(call.ended_ns)

    def _event(self, entry: OutboxEntry) -> None:
        record = entry.record
        broke = isinstance(record.outcome, Errored)
        self._logger.emit(
            timestamp=record.ended_ns,
            observed_timestamp=record.ended_ns,
            context=_context(record.trace_id, record.span_id),
            severity_number=SeverityNumber.WARN if broke else SeverityNumber.INFO,
            severity_text="WARN" if broke else "INFO",
            body=body(record, self._wording),
            attributes=evaluation_attributes(record, entry.response_id, self._wording),
            event_name=EVENT_NAME,
        )


def _remote(trace_id: str, span_id: str) -> SpanContext:
    sampled = TraceFlags(TraceFlags.SAMPLED)
    try:
        return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=sampled)
    except ValueError:  # not hex: the event stands on no span rather than holding up the outbox
        return SpanContext(0, 0, is_remote=True, trace_flags=sampled)


def _context(trace_id: str, span_id: str) -> Context:
    """A context of its own: nothing of what is current in this process gets in."""
    return set_span_in_context(NonRecordingSpan(_remote(trace_id, span_id)), Context())


def _parent(placement: Placement) -> Context:
    if placement.parent_span_id is None:
        return Context()
    return _context(placement.trace_id, placement.parent_span_id)
