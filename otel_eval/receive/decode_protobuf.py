"""OTLP requests as protobuf into :mod:`otel_eval.signals`. Source: OTLP 1.9 (``opentelemetry-proto``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource as EncodedResource

from otel_eval.receive.decode_common import MAX_DEPTH, STATUS, event_name, log_ids, parent_is_remote, span_ids
from otel_eval.signals import LogRecord, Resource, Scope, Span, SpanEvent, SpanLink


class LazyAttributes(Mapping[str, Any]):
    """Attributes of one protobuf message: walking the keys decodes nothing, reading a value decodes them all, once.

    Of a key that stands there twice the last value counts; walking shows it twice until a value was read.
    """

    __slots__ = ("_decoded", "_raw")

    def __init__(self, raw: Iterable[KeyValue]) -> None:
        self._raw = raw
        self._decoded: dict[str, Any] | None = None

    def _all(self) -> dict[str, Any]:
        if self._decoded is None:
            self._decoded = {item.key: _value(item.value) for item in self._raw}
        return self._decoded

    def __getitem__(self, key: str) -> Any:
        return self._all()[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self._all().get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._all()

    def __iter__(self) -> Iterator[str]:
        if self._decoded is not None:
            return iter(self._decoded)
        return iter([item.key for item in self._raw])

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())


def _attributes(raw: Any) -> Mapping[str, Any]:
    return LazyAttributes(raw) if raw else _NONE


_NONE: Mapping[str, Any] = {}


def _value(value: AnyValue, depth: int = 0) -> Any:
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value
        case "int_value":
            return value.int_value
        case "bool_value":
            return value.bool_value
        case "double_value":
            return value.double_value
        case "array_value":
            return [_value(item, depth + 1) for item in value.array_value.values] if depth < MAX_DEPTH else []
        case "kvlist_value":
            if depth >= MAX_DEPTH:
                return {}
            return {item.key: _value(item.value, depth + 1) for item in value.kvlist_value.values}
        case "bytes_value":
            return value.bytes_value
    return None


@lru_cache(maxsize=4096)
def _resource(encoded: bytes) -> Resource:
    """One object for the same resource in every batch: whoever keeps it keeps no request, and compares by identity."""
    return Resource({item.key: _value(item.value) for item in EncodedResource.FromString(encoded).attributes})


def spans_of(request: ExportTraceServiceRequest, odd: Counter[str]) -> Iterator[Span]:
    for resource_spans in request.resource_spans:
        resource = _resource(resource_spans.resource.SerializeToString())
        for scope_spans in resource_spans.scope_spans:
            raw_scope = scope_spans.scope
            scope = Scope(raw_scope.name, raw_scope.version, _attributes(raw_scope.attributes))
            for span in scope_spans.spans:
                ids = span_ids(span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(), odd)
                if ids is None:
                    continue
                yield Span(
                    trace_id=ids[0],
                    span_id=ids[1],
                    parent_id=ids[2],
                    name=span.name,
                    kind=span.kind,
                    started_ns=span.start_time_unix_nano,
                    ended_ns=span.end_time_unix_nano,
                    attributes=_attributes(span.attributes),
                    events=tuple(
                        SpanEvent(
                            event.name,
                            event.time_unix_nano,
                            _attributes(event.attributes),
                            event.dropped_attributes_count,
                        )
                        for event in span.events
                    )
                    if span.events
                    else (),
                    links=tuple(
                        SpanLink(link.trace_id.hex(), link.span_id.hex(), _attributes(link.attributes))
                        for link in span.links
                    )
                    if span.links
                    else (),
                    status=STATUS.get(span.status.code, "unset"),
                    status_message=span.status.message,
                    dropped_attributes=span.dropped_attributes_count,
                    dropped_events=span.dropped_events_count,
                    dropped_links=span.dropped_links_count,
                    trace_state=span.trace_state,
                    parent_is_remote=parent_is_remote(span.flags),
                    resource=resource,
                    scope=scope,
                )


def logs_of(request: ExportLogsServiceRequest, odd: Counter[str]) -> Iterator[LogRecord]:
    for resource_logs in request.resource_logs:
        resource = _resource(resource_logs.resource.SerializeToString())
        for scope_logs in resource_logs.scope_logs:
            raw_scope = scope_logs.scope
            scope = Scope(raw_scope.name, raw_scope.version, _attributes(raw_scope.attributes))
            for record in scope_logs.log_records:
                attributes = _attributes(record.attributes)
                trace_id, span_id = log_ids(record.trace_id.hex(), record.span_id.hex(), odd)
                yield LogRecord(
                    trace_id=trace_id,
                    span_id=span_id,
                    event_name=record.event_name or event_name(attributes),
                    time_ns=record.time_unix_nano or record.observed_time_unix_nano,
                    severity_number=record.severity_number,
                    body=_value(record.body),
                    attributes=attributes,
                    dropped_attributes=record.dropped_attributes_count,
                    resource=resource,
                    scope=scope,
                )
