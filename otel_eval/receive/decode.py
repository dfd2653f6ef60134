"""OTLP requests, protobuf and JSON, into :mod:`otel_eval.signals`.

One odd span does not poison its batch: what cannot be placed is left out and counted by reason in ``odd``, the rest is
taken. Attributes of protobuf spans are decoded when first read, because most spans are no agent's and only their keys are
ever looked at. Resources and scopes are shared by all spans of one group.

Source: OTLP 1.9 (``opentelemetry-proto``); JSON encoding: ids are hex, enums numbers (names are taken too), 64-bit
integers strings or numbers, bytes base64, unknown fields ignored.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource as EncodedResource

from otel_eval.signals import LogRecord, Resource, Scope, Span, SpanEvent, SpanLink

Encoding: TypeAlias = Literal["protobuf", "json"]
Json: TypeAlias = Mapping[str, Any]

STATUS = {0: "unset", 1: "ok", 2: "error", "STATUS_CODE_OK": "ok", "STATUS_CODE_ERROR": "error"}
SPAN_KINDS = {
    f"SPAN_KIND_{name}": number
    for number, name in enumerate(("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"))
}
MAX_DEPTH = 64
"""Deeper nesting of attribute values is cut off: nobody writes it but to exhaust a stack."""


class MalformedRequest(ValueError):
    """The bytes are no OTLP request of that signal and encoding."""


def decode_traces(body: bytes, encoding: Encoding = "protobuf", odd: Counter[str] | None = None) -> list[Span]:
    """The spans of an ``ExportTraceServiceRequest``, in its order.

    ``odd`` counts by reason what was left out (``trace_id``, ``span_id``: of a wrong length or all zero) and what was
    taken as a root although its parent id was unusable (``parent_id``). Raises MalformedRequest.
    """
    odd = Counter() if odd is None else odd
    if encoding == "json":
        return list(_json_spans(_load(body), odd))
    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise MalformedRequest(f"not an OTLP trace request: {error}") from error
    return list(_spans(request, odd))


def decode_logs(body: bytes, encoding: Encoding = "protobuf", odd: Counter[str] | None = None) -> list[LogRecord]:
    """The log records of an ``ExportLogsServiceRequest``, in its order. A record without ids is taken. Raises MalformedRequest."""
    odd = Counter() if odd is None else odd
    if encoding == "json":
        return list(_json_logs(_load(body), odd))
    try:
        request = ExportLogsServiceRequest.FromString(body)
    except DecodeError as error:
        raise MalformedRequest(f"not an OTLP log request: {error}") from error
    return list(_logs(request, odd))


class LazyAttributes(Mapping[str, Any]):
    """Attributes of one protobuf message: walking the keys decodes nothing, reading a value decodes them all, once.

    Of a key that stands there twice the last value counts.
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
        return iter(dict.fromkeys(item.key for item in self._raw))

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


def _parent_is_remote(flags: int) -> bool | None:
    """Source: OTLP ``SpanFlags``: 0x100 says that 0x200 is to be believed."""
    return bool(flags & 0x200) if flags & 0x100 else None


def _spans(request: ExportTraceServiceRequest, odd: Counter[str]) -> Iterator[Span]:
    for resource_spans in request.resource_spans:
        resource = _resource(resource_spans.resource.SerializeToString())
        for scope_spans in resource_spans.scope_spans:
            raw_scope = scope_spans.scope
            scope = Scope(raw_scope.name, raw_scope.version, _attributes(raw_scope.attributes))
            for span in scope_spans.spans:
                ids = _span_ids(span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(), odd)
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
                    parent_is_remote=_parent_is_remote(span.flags),
                    resource=resource,
                    scope=scope,
                )


def _logs(request: ExportLogsServiceRequest, odd: Counter[str]) -> Iterator[LogRecord]:
    for resource_logs in request.resource_logs:
        resource = _resource(resource_logs.resource.SerializeToString())
        for scope_logs in resource_logs.scope_logs:
            raw_scope = scope_logs.scope
            scope = Scope(raw_scope.name, raw_scope.version, _attributes(raw_scope.attributes))
            for record in scope_logs.log_records:
                attributes = _attributes(record.attributes)
                trace_id, span_id = _log_ids(record.trace_id.hex(), record.span_id.hex(), odd)
                yield LogRecord(
                    trace_id=trace_id,
                    span_id=span_id,
                    event_name=record.event_name or _event_name(attributes),
                    time_ns=record.time_unix_nano or record.observed_time_unix_nano,
                    severity_number=record.severity_number,
                    body=_value(record.body),
                    attributes=attributes,
                    dropped_attributes=record.dropped_attributes_count,
                    resource=resource,
                    scope=scope,
                )


def _span_ids(trace_id: str, span_id: str, parent_id: str, odd: Counter[str]) -> tuple[str, str, str | None] | None:
    if len(trace_id) != 32 or not trace_id.strip("0"):
        odd["trace_id"] += 1
        return None
    if len(span_id) != 16 or not span_id.strip("0"):
        odd["span_id"] += 1
        return None
    if not parent_id.strip("0"):
        return trace_id, span_id, None
    if len(parent_id) != 16 or parent_id == span_id:
        odd["parent_id"] += 1
        return trace_id, span_id, None
    return trace_id, span_id, parent_id


def _log_ids(trace_id: str, span_id: str, odd: Counter[str]) -> tuple[str | None, str | None]:
    if not trace_id.strip("0"):
        return None, None
    if len(trace_id) != 32 or (span_id and len(span_id) != 16):
        odd["log_ids"] += 1
        return None, None
    return trace_id, span_id if span_id.strip("0") else None


def _event_name(attributes: Mapping[str, Any]) -> str:
    """The name that SDKs of 2024 and 2025 (``event.name``) and LiteLLM (``event_name``) wrote as an attribute."""
    name = attributes.get("event.name") or attributes.get("event_name")
    return name if isinstance(name, str) else ""


# OTLP/JSON


def _load(body: bytes) -> Json:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedRequest(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedRequest("not an OTLP/JSON request: an object is expected")
    return value


def _get(value: Json, camel: str, snake: str) -> Any:
    """A field by its JSON name, else by its protobuf name, which parsers must accept too."""
    found = value.get(camel)
    return value.get(snake) if found is None else found


def _objects(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _groups(request: Json, signal: Literal["Spans", "Logs"]) -> Iterator[tuple[Resource, Scope, Json]]:
    lower = signal.lower()
    for group in _objects(_get(request, f"resource{signal}", f"resource_{lower}")):
        resource_json = group.get("resource")
        resource = Resource(_json_attributes(resource_json)) if isinstance(resource_json, dict) else Resource()
        for scoped in _objects(_get(group, f"scope{signal}", f"scope_{lower}")):
            scope_json = scoped.get("scope")
            scope = Scope()
            if isinstance(scope_json, dict):
                scope = Scope(
                    _text(scope_json.get("name")), _text(scope_json.get("version")), _json_attributes(scope_json)
                )
            yield resource, scope, scoped


def _json_spans(request: Json, odd: Counter[str]) -> Iterator[Span]:
    for resource, scope, scoped in _groups(request, "Spans"):
        for span in _objects(scoped.get("spans")):
            ids = _span_ids(
                _json_id(_get(span, "traceId", "trace_id"), 16),
                _json_id(_get(span, "spanId", "span_id"), 8),
                _json_id(_get(span, "parentSpanId", "parent_span_id"), 8),
                odd,
            )
            if ids is None:
                continue
            status = span.get("status")
            status = status if isinstance(status, dict) else {}
            yield Span(
                trace_id=ids[0],
                span_id=ids[1],
                parent_id=ids[2],
                name=_text(span.get("name")),
                kind=_enum(span.get("kind"), SPAN_KINDS),
                started_ns=_int(_get(span, "startTimeUnixNano", "start_time_unix_nano")),
                ended_ns=_int(_get(span, "endTimeUnixNano", "end_time_unix_nano")),
                attributes=_json_attributes(span),
                events=tuple(
                    SpanEvent(
                        _text(event.get("name")),
                        _int(_get(event, "timeUnixNano", "time_unix_nano")),
                        _json_attributes(event),
                        _int(_get(event, "droppedAttributesCount", "dropped_attributes_count")),
                    )
                    for event in _objects(span.get("events"))
                ),
                links=tuple(
                    SpanLink(
                        _json_id(_get(link, "traceId", "trace_id"), 16),
                        _json_id(_get(link, "spanId", "span_id"), 8),
                        _json_attributes(link),
                    )
                    for link in _objects(span.get("links"))
                ),
                status=STATUS.get(status.get("code", 0), "unset"),
                status_message=_text(status.get("message")),
                dropped_attributes=_int(_get(span, "droppedAttributesCount", "dropped_attributes_count")),
                dropped_events=_int(_get(span, "droppedEventsCount", "dropped_events_count")),
                dropped_links=_int(_get(span, "droppedLinksCount", "dropped_links_count")),
                trace_state=_text(_get(span, "traceState", "trace_state")),
                parent_is_remote=_parent_is_remote(_int(span.get("flags"))),
                resource=resource,
                scope=scope,
            )


def _json_logs(request: Json, odd: Counter[str]) -> Iterator[LogRecord]:
    for resource, scope, scoped in _groups(request, "Logs"):
        for record in _objects(_get(scoped, "logRecords", "log_records")):
            attributes = _json_attributes(record)
            trace_id, span_id = _log_ids(
                _json_id(_get(record, "traceId", "trace_id"), 16),
                _json_id(_get(record, "spanId", "span_id"), 8),
                odd,
            )
            yield LogRecord(
                trace_id=trace_id,
                span_id=span_id,
                event_name=_text(_get(record, "eventName", "event_name")) or _event_name(attributes),
                time_ns=_int(_get(record, "timeUnixNano", "time_unix_nano"))
                or _int(_get(record, "observedTimeUnixNano", "observed_time_unix_nano")),
                severity_number=_int(_get(record, "severityNumber", "severity_number")),
                body=_json_value(record.get("body")),
                attributes=attributes,
                dropped_attributes=_int(_get(record, "droppedAttributesCount", "dropped_attributes_count")),
                resource=resource,
                scope=scope,
            )


def _json_attributes(holder: Json) -> dict[str, Any]:
    items = _objects(holder.get("attributes"))
    return {key: _json_value(item.get("value")) for item in items if isinstance(key := item.get("key"), str)}


def _json_value(value: Any, depth: int = 0) -> Any:
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return None
    for (camel, snake), read in _JSON_VALUES.items():
        found = _get(value, camel, snake)
        if found is not None:
            return read(found)
    array = _get(value, "arrayValue", "array_value")
    if isinstance(array, dict):
        return [_json_value(item, depth + 1) for item in array.get("values") or ()]
    pairs = _get(value, "kvlistValue", "kvlist_value")
    if isinstance(pairs, dict):
        return {
            _text(item.get("key")): _json_value(item.get("value"), depth + 1) for item in _objects(pairs.get("values"))
        }
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _int(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return int(value) if isinstance(value, str | float) else 0
    except (ValueError, OverflowError):
        return 0


def _float(value: Any) -> float | None:
    try:
        return float(value)  # "NaN" and "Infinity" are strings in protobuf's JSON
    except (TypeError, ValueError):
        return None


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=False)
    except (binascii.Error, TypeError, ValueError):
        return b""


def _enum(value: Any, names: Mapping[str, int]) -> int:
    return names.get(value, 0) if isinstance(value, str) and not value.isdigit() else _int(value)


def _json_id(value: Any, size: int) -> str:
    """An id as OTLP/JSON writes it (hex), or as protobuf's own JSON does (base64), which some senders use."""
    if not isinstance(value, str) or not value:
        return ""
    if len(value) == 2 * size or len(value) == 32:
        try:
            return bytes.fromhex(value).hex()
        except ValueError:
            return "?"
    try:
        return base64.b64decode(value, validate=True).hex()
    except (binascii.Error, ValueError):
        return "?"


_JSON_VALUES: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("stringValue", "string_value"): lambda value: value if isinstance(value, str) else str(value),
    ("boolValue", "bool_value"): lambda value: value is True or value == "true",
    ("intValue", "int_value"): _int,
    ("doubleValue", "double_value"): _float,
    ("bytesValue", "bytes_value"): _bytes,
}
