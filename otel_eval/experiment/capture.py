"""The telemetry of this process, as the agent's SDK makes it: one synchronous processor per provider, beside its exporters.

Imported only when an experiment runs, because it needs the OpenTelemetry SDK. Source: opentelemetry-sdk 1.39 and later
(``LogRecordProcessor.on_emit`` takes a ``ReadWriteLogRecord``).
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry import _logs, context, trace
from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor, ReadWriteLogRecord
from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED
from opentelemetry.sdk.resources import Resource as SdkResource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace import Span as SdkSpan
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from otel_eval.experiment.current import CurrentAttempt
from otel_eval.experiment.evidence import Attribution
from otel_eval.experiment.propagation import below
from otel_eval.signals import LogRecord, Resource, Scope, Span, SpanEvent, SpanLink

_LAST_TRACE_ID = 2**128 - 1
"""The one that a sampler by ratio lets through last."""
_STATUS = {"UNSET": "unset", "OK": "ok", "ERROR": "error"}


class Capture:
    """The spans and log records of two providers, handed to an :class:`Attribution`."""

    def __init__(self, tracers: Any = None, loggers: Any = None) -> None:
        """``tracers`` and ``loggers`` are the agent's providers; else the global ones; without those, ours are installed."""
        self._tracers = tracers if tracers is not None else _global_tracers()
        self._loggers = loggers if loggers is not None else _global_loggers()
        self.attribution = _attribution(self._tracers, self._loggers)

    def no_telemetry(self, attempt: CurrentAttempt) -> str:
        """Why an attempt may have come without a single span, for people."""
        if os.environ.get(OTEL_SDK_DISABLED, "").strip().lower() == "true":
            return f"the OpenTelemetry SDK is disabled ({OTEL_SDK_DISABLED}=true)"
        if not hasattr(self._tracers, "add_span_processor"):
            kind = f"{type(self._tracers).__module__}.{type(self._tracers).__qualname__}"
            return f"no provider of the OpenTelemetry SDK: the tracer provider is {kind}, which records nothing"
        if (sampler := self._dropping_sampler(attempt)) is not None:
            return f"the sampler {sampler} drops the agent's spans although their parent is sampled"
        unseen = (
            "the agent wrote no span to this tracer provider: it is not instrumented, or it is instrumented with another "
            "provider (give it to the experiment)"
        )
        if (sampler := self._dropping_sampler(None)) is not None:
            unseen += f"; or it began a trace of its own, as in a new thread, where the sampler {sampler} may drop it"
        return unseen

    def _dropping_sampler(self, attempt: CurrentAttempt | None) -> str | None:
        """The sampler that drops a span of this attempt; None: that may drop one that begins a trace."""
        sampler = getattr(self._tracers, "sampler", None)
        if sampler is None:
            return None
        parent = context.Context() if attempt is None else below(attempt)
        trace_id = _LAST_TRACE_ID if attempt is None else int(attempt.trace_id, 16)
        result = sampler.should_sample(parent, trace_id, "invoke_agent")
        return str(sampler.get_description()) if result.decision is Decision.DROP else None


def _global_tracers() -> Any:
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):
        trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
    return trace.get_tracer_provider()


def _global_loggers() -> Any:
    provider = _logs.get_logger_provider()
    if type(provider).__name__ == "ProxyLoggerProvider":
        _logs.set_logger_provider(LoggerProvider(shutdown_on_exit=False))
    return _logs.get_logger_provider()


_attributions: weakref.WeakKeyDictionary[Any, Attribution] = weakref.WeakKeyDictionary()
_log_processors: weakref.WeakKeyDictionary[Any, _Logs] = weakref.WeakKeyDictionary()
_adding = threading.Lock()


def _attribution(tracers: Any, loggers: Any) -> Attribution:
    """The attribution that this tracer provider feeds; our processors are added to each provider once, for good."""
    with _adding:
        attribution = _attributions.get(tracers)
        if attribution is None:
            attribution = Attribution()
            _attributions[tracers] = attribution
            if hasattr(tracers, "add_span_processor"):
                tracers.add_span_processor(_Spans(attribution))
        if hasattr(loggers, "add_log_record_processor"):
            logs = _log_processors.get(loggers)
            if logs is None:
                logs = _log_processors[loggers] = _Logs()
                loggers.add_log_record_processor(logs)
            logs.attributions.add(attribution)
        return attribution


class _Spans(SpanProcessor):
    def __init__(self, attribution: Attribution) -> None:
        self._attribution = attribution
        self._convert = _Converter()

    def on_start(self, span: SdkSpan, parent_context: context.Context | None = None) -> None:
        if self._attribution.idle:
            return
        ids = span.get_span_context()
        if ids is not None:
            self._attribution.started(_trace_id(ids.trace_id), _span_id(ids.span_id), span.attributes or {})

    def on_end(self, span: ReadableSpan) -> None:
        if not self._attribution.idle:
            self._attribution.ended(self._convert.span(span))


class _Logs(LogRecordProcessor):
    def __init__(self) -> None:
        self.attributions: weakref.WeakSet[Attribution] = weakref.WeakSet()
        self._convert = _Converter()

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        watching = [attribution for attribution in self.attributions if not attribution.idle]
        if watching:
            record = self._convert.log(log_record)
            for attribution in watching:
                attribution.logged(record)

    def shutdown(self) -> None:
        """Nothing is held back."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True


class _Converter:
    """SDK objects to signals. Resources and scopes are converted once, so that all signals share them."""

    def __init__(self) -> None:
        self._resources: dict[int, tuple[Any, Resource]] = {}
        self._scopes: dict[tuple[str, str | None], Scope] = {}

    def span(self, span: ReadableSpan) -> Span:
        """An ended span."""
        ids, parent = span.context, span.parent
        assert ids is not None
        return Span(
            trace_id=_trace_id(ids.trace_id),
            span_id=_span_id(ids.span_id),
            parent_id=None if parent is None else _span_id(parent.span_id),
            name=span.name,
            kind=span.kind.value + 1,
            started_ns=span.start_time or 0,
            ended_ns=span.end_time or 0,
            attributes=_plain(span.attributes),
            events=tuple(
                SpanEvent(event.name, event.timestamp, _plain(event.attributes), _dropped(event.attributes))
                for event in span.events
            ),
            links=tuple(
                SpanLink(_trace_id(link.context.trace_id), _span_id(link.context.span_id), _plain(link.attributes))
                for link in span.links
            ),
            status=_STATUS[span.status.status_code.name],
            status_message=span.status.description or "",
            dropped_attributes=span.dropped_attributes,
            dropped_events=span.dropped_events,
            dropped_links=span.dropped_links,
            trace_state=ids.trace_state.to_header(),
            parent_is_remote=None if parent is None else parent.is_remote,
            resource=self._resource(span.resource),
            scope=self._scope(span.instrumentation_scope),
        )

    def log(self, emitted: ReadWriteLogRecord) -> LogRecord:
        """An emitted log record."""
        record = emitted.log_record
        attributes = _plain(record.attributes)
        severity = record.severity_number
        return LogRecord(
            trace_id=_trace_id(record.trace_id) if record.trace_id else None,
            span_id=_span_id(record.span_id) if record.span_id else None,
            event_name=record.event_name or str(attributes.get("event.name", attributes.get("event_name", ""))),
            time_ns=record.timestamp or record.observed_timestamp or 0,
            severity_number=0 if severity is None else severity.value,
            body=_value(record.body),
            attributes=attributes,
            dropped_attributes=emitted.dropped_attributes,
            resource=self._resource(emitted.resource),
            scope=self._scope(emitted.instrumentation_scope),
        )

    def _resource(self, resource: SdkResource | None) -> Resource:
        if resource is None:
            return Resource()
        held = self._resources.get(id(resource))
        if held is None:
            held = self._resources[id(resource)] = (resource, Resource(_plain(resource.attributes)))
        return held[1]

    def _scope(self, scope: InstrumentationScope | None) -> Scope:
        if scope is None:
            return Scope()
        key = (scope.name, scope.version)
        if key not in self._scopes:
            self._scopes[key] = Scope(scope.name, scope.version or "", _plain(scope.attributes))
        return self._scopes[key]


def _plain(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    return {} if attributes is None else {key: _value(value) for key, value in attributes.items()}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _value(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_value(item) for item in value]
    return value


def _dropped(attributes: Any) -> int:
    return int(getattr(attributes, "dropped", 0))


def _trace_id(number: int) -> str:
    return f"{number:032x}"


def _span_id(number: int) -> str:
    return f"{number:016x}"
