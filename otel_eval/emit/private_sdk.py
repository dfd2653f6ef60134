"""The OpenTelemetry SDK as a maker of spans and log records, out of reach of the process's own telemetry settings.

Providers of our own: always on, without limits, registered nowhere. What they make is not exported by them but taken, so
that the outbox can export it and see whether it was taken.
"""

from __future__ import annotations

from opentelemetry.sdk._logs import (
    LoggerProvider,
    LogRecordLimits,
    LogRecordProcessor,
    ReadableLogRecord,
    ReadWriteLogRecord,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON


def tracer_provider(resource: Resource, ids: IdGenerator, ended: SpanProcessor) -> TracerProvider:
    """A provider whose spans have those ids and end up in ``ended``."""
    provider = TracerProvider(
        sampler=ALWAYS_ON,
        resource=resource,
        shutdown_on_exit=False,
        id_generator=ids,
        span_limits=SpanLimits(
            max_attributes=SpanLimits.UNSET,
            max_events=SpanLimits.UNSET,
            max_links=SpanLimits.UNSET,
            max_span_attributes=SpanLimits.UNSET,
            max_attribute_length=SpanLimits.UNSET,
            max_span_attribute_length=SpanLimits.UNSET,
        ),
    )
    provider.add_span_processor(ended)
    return provider


def logger_provider(resource: Resource, emitted: LogRecordProcessor) -> LoggerProvider:
    """A provider whose log records end up in ``emitted``."""
    limits = LogRecordLimits(
        max_attributes=LogRecordLimits.UNSET,
        max_attribute_length=LogRecordLimits.UNSET,
        max_log_record_attributes=LogRecordLimits.UNSET,
        max_log_record_attribute_length=LogRecordLimits.UNSET,
    )
    provider = LoggerProvider(resource=resource, shutdown_on_exit=False, log_record_limits=limits)
    provider.add_log_record_processor(emitted)
    return provider


class ComputedIds(IdGenerator):
    """Gives the ids that were laid out just before the span is started."""

    def __init__(self) -> None:
        self._trace_id = 0
        self._span_id = 0

    def hand_out(self, trace_id: str, span_id: str) -> None:
        self._trace_id = int(trace_id, 16)
        self._span_id = int(span_id, 16)

    def generate_trace_id(self) -> int:
        return self._trace_id

    def generate_span_id(self) -> int:
        return self._span_id


class Ended(SpanProcessor):
    """Keeps ended spans until they are taken, parents before children."""

    def __init__(self) -> None:
        self._ended: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self._ended.append(span)

    def take(self) -> tuple[ReadableSpan, ...]:
        taken, self._ended = tuple(self._ended), []
        return taken


class Emitted(LogRecordProcessor):
    """Keeps emitted log records until they are taken."""

    def __init__(self) -> None:
        self._emitted: list[ReadableLogRecord] = []

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        self._emitted.append(
            ReadableLogRecord(
                log_record=log_record.log_record,
                resource=log_record.resource or Resource.get_empty(),
                instrumentation_scope=log_record.instrumentation_scope,
                limits=log_record.limits,
            )
        )

    def take(self) -> tuple[ReadableLogRecord, ...]:
        taken, self._emitted = tuple(self._emitted), []
        return taken

    def shutdown(self) -> None:
        """Nothing is held."""

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return True
