"""OTLP/JSON into :mod:`otel_eval.signals`.

Source: OTLP 1.9, JSON encoding: ids are hex, enums numbers (names are taken too), 64-bit integers strings or numbers,
bytes base64, field names camel case or as in protobuf; unknown fields are ignored.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import orjson

from otel_eval.receive.decode_common import (
    MAX_DEPTH,
    STATUS,
    MalformedRequest,
    event_name,
    log_ids,
    parent_is_remote,
    span_ids,
)
from otel_eval.signals import LogRecord, Resource, Scope, Span, SpanEvent, SpanLink

Json: TypeAlias = Mapping[str, Any]

SPAN_KINDS = {
    f"SPAN_KIND_{name}": number
    for number, name in enumerate(("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"))
}


def load(body: bytes) -> Json:
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


def spans_of(request: Json, odd: Counter[str]) -> Iterator[Span]:
    for resource, scope, scoped in _groups(request, "Spans"):
        for span in _objects(scoped.get("spans")):
            ids = span_ids(
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
                parent_is_remote=parent_is_remote(_int(span.get("flags"))),
                resource=resource,
                scope=scope,
            )


def logs_of(request: Json, odd: Counter[str]) -> Iterator[LogRecord]:
    for resource, scope, scoped in _groups(request, "Logs"):
        for record in _objects(_get(scoped, "logRecords", "log_records")):
            attributes = _json_attributes(record)
            trace_id, span_id = log_ids(
                _json_id(_get(record, "traceId", "trace_id"), 16),
                _json_id(_get(record, "spanId", "span_id"), 8),
                odd,
            )
            yield LogRecord(
                trace_id=trace_id,
                span_id=span_id,
                event_name=_text(_get(record, "eventName", "event_name")) or event_name(attributes),
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
        values = array.get("values")
        return [_json_value(item, depth + 1) for item in values] if isinstance(values, list) else []
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
