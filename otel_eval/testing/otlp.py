"""OTLP requests of signals, and signals of OTLP requests: written apart from ``receive/``, so that one checks the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as LogRecordProto
from opentelemetry.proto.resource.v1.resource_pb2 import Resource as ResourceProto
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanProto

from otel_eval.signals import LogRecord, Resource, Scope, Span, SpanEvent, SpanLink

_STATUS = ("unset", "ok", "error")
_HAS_IS_REMOTE, _IS_REMOTE = 0x100, 0x200


def otlp_request(spans: Iterable[Span]) -> bytes:
    """The body of one ``ExportTraceServiceRequest``, spans grouped by resource and scope, in order."""
    return trace_request(spans).SerializeToString()


def otlp_logs_request(records: Iterable[LogRecord]) -> bytes:
    """The body of one ``ExportLogsServiceRequest``."""
    return logs_request(records).SerializeToString()


def trace_request(spans: Iterable[Span]) -> ExportTraceServiceRequest:
    """The same as a message, to spoil before it is serialized."""
    request = ExportTraceServiceRequest()
    for resource, scope, group in _grouped(spans):
        holder = request.resource_spans.add(resource=_resource(resource))
        holder.scope_spans.add(scope=_scope(scope), spans=[_span(span) for span in group])
    return request


def logs_request(records: Iterable[LogRecord]) -> ExportLogsServiceRequest:
    """The same as a message."""
    request = ExportLogsServiceRequest()
    for resource, scope, group in _grouped(records):
        holder = request.resource_logs.add(resource=_resource(resource))
        holder.scope_logs.add(scope=_scope(scope), log_records=[_log(record) for record in group])
    return request


def spans_of(request: ExportTraceServiceRequest) -> list[Span]:
    """The spans of a request."""
    return [
        _read_span(span, read_resource(resource.resource), read_scope(scope.scope))
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def logs_of(request: ExportLogsServiceRequest) -> list[LogRecord]:
    """The log records of a request."""
    return [
        _read_log(record, read_resource(resource.resource), read_scope(scope.scope))
        for resource in request.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]


def any_value(value: Any) -> AnyValue:
    """A Python value as OTLP has it. None is the empty value."""
    if value is None:
        return AnyValue()
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, bytes):
        return AnyValue(bytes_value=value)
    if isinstance(value, Mapping):
        made = AnyValue()
        made.kvlist_value.values.extend(_attributes(value))
        return made
    if isinstance(value, list | tuple):
        made = AnyValue()
        made.array_value.values.extend(any_value(item) for item in value)
        return made
    return AnyValue(string_value=str(value))


def plain_value(value: AnyValue) -> Any:
    """The Python value of an OTLP value."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [plain_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return plain_attributes(value.kvlist_value.values)
    return getattr(value, kind)


def plain_attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    """Attributes as a dict; the last of a repeated key wins."""
    return {pair.key: plain_value(pair.value) for pair in pairs}


def read_resource(resource: ResourceProto) -> Resource:
    """A resource as plain Python."""
    return Resource(plain_attributes(resource.attributes))


def read_scope(scope: InstrumentationScope) -> Scope:
    """A scope as plain Python."""
    return Scope(scope.name, scope.version, plain_attributes(scope.attributes))


def _grouped(signals: Iterable[Any]) -> list[tuple[Resource, Scope, list[Any]]]:
    groups: list[tuple[Resource, Scope, list[Any]]] = []
    for signal in signals:
        if groups and groups[-1][0] == signal.resource and groups[-1][1] == signal.scope:
            groups[-1][2].append(signal)
        else:
            groups.append((signal.resource, signal.scope, [signal]))
    return groups


def _attributes(attributes: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=any_value(value)) for key, value in attributes.items()]


def _resource(resource: Resource) -> ResourceProto:
    return ResourceProto(attributes=_attributes(resource.attributes))


def _scope(scope: Scope) -> InstrumentationScope:
    return InstrumentationScope(name=scope.name, version=scope.version, attributes=_attributes(scope.attributes))


def _span(span: Span) -> SpanProto:
    flags = 0 if span.parent_is_remote is None else _HAS_IS_REMOTE | (_IS_REMOTE if span.parent_is_remote else 0)
    made = SpanProto(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_id or ""),
        trace_state=span.trace_state,
        flags=flags,
        name=span.name,
        kind=span.kind,  # type: ignore[arg-type]  # any number goes over the wire
        start_time_unix_nano=span.started_ns,
        end_time_unix_nano=span.ended_ns,
        attributes=_attributes(span.attributes),
        dropped_attributes_count=span.dropped_attributes,
        dropped_events_count=span.dropped_events,
        dropped_links_count=span.dropped_links,
    )
    made.status.code = _STATUS.index(span.status)  # type: ignore[assignment]
    made.status.message = span.status_message
    for event in span.events:
        made.events.add(
            name=event.name,
            time_unix_nano=event.time_ns,
            attributes=_attributes(event.attributes),
            dropped_attributes_count=event.dropped_attributes,
        )
    for link in span.links:
        made.links.add(
            trace_id=bytes.fromhex(link.trace_id),
            span_id=bytes.fromhex(link.span_id),
            attributes=_attributes(link.attributes),
        )
    return made


def _log(record: LogRecord) -> LogRecordProto:
    return LogRecordProto(
        trace_id=bytes.fromhex(record.trace_id or ""),
        span_id=bytes.fromhex(record.span_id or ""),
        event_name=record.event_name,
        time_unix_nano=record.time_ns,
        severity_number=record.severity_number,  # type: ignore[arg-type]
        body=None if record.body is None else any_value(record.body),
        attributes=_attributes(record.attributes),
        dropped_attributes_count=record.dropped_attributes,
    )


def _read_span(span: SpanProto, resource: Resource, scope: Scope) -> Span:
    return Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex() or None,
        name=span.name,
        kind=span.kind,
        started_ns=span.start_time_unix_nano,
        ended_ns=span.end_time_unix_nano,
        attributes=plain_attributes(span.attributes),
        events=tuple(_read_event(event) for event in span.events),
        links=tuple(_read_link(link) for link in span.links),
        status=_STATUS[span.status.code],
        status_message=span.status.message,
        dropped_attributes=span.dropped_attributes_count,
        dropped_events=span.dropped_events_count,
        dropped_links=span.dropped_links_count,
        trace_state=span.trace_state,
        parent_is_remote=bool(span.flags & _IS_REMOTE) if span.flags & _HAS_IS_REMOTE else None,
        resource=resource,
        scope=scope,
    )


def _read_event(event: SpanProto.Event) -> SpanEvent:
    attributes = plain_attributes(event.attributes)
    return SpanEvent(event.name, event.time_unix_nano, attributes, event.dropped_attributes_count)


def _read_link(link: SpanProto.Link) -> SpanLink:
    return SpanLink(link.trace_id.hex(), link.span_id.hex(), plain_attributes(link.attributes))


def _read_log(record: LogRecordProto, resource: Resource, scope: Scope) -> LogRecord:
    attributes = plain_attributes(record.attributes)
    return LogRecord(
        trace_id=record.trace_id.hex() or None,
        span_id=record.span_id.hex() or None,
        event_name=record.event_name or str(attributes.get("event.name", attributes.get("event_name", ""))),
        time_ns=record.time_unix_nano or record.observed_time_unix_nano,
        severity_number=record.severity_number,
        body=plain_value(record.body) if record.HasField("body") else None,
        attributes=attributes,
        dropped_attributes=record.dropped_attributes_count,
        resource=resource,
        scope=scope,
    )
