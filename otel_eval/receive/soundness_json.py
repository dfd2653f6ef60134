"""The same checks for OTLP/JSON: an object of the right shape, the right signal, usable ids.

Source: OTLP 1.9, "JSON Protobuf Encoding": ids are hex, field names lowerCamelCase, unknown fields are passed over. As
decoding does, protobuf's own names (snake case) and ids in base64 are understood, because some senders write them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

import orjson

from otel_eval.journal import Signal
from otel_eval.receive.refusal import Code, Refused
from otel_eval.receive.soundness import Checked, wrong_signal

_PARTS: dict[Signal, tuple[str, str, str]] = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
    "metrics": ("resourceMetrics", "scopeMetrics", "metrics"),
}
_DATA = ("gauge", "sum", "histogram", "exponentialHistogram", "summary")


def check_json(signal: Signal, body: bytes) -> Checked:
    """Count what an OTLP/JSON request holds. Raises :class:`Refused` (malformed, wrong signal)."""
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(Code.MALFORMED, f"not JSON: {error}") from error
    if not isinstance(request, dict):
        raise Refused(Code.MALFORMED, "not an OTLP/JSON request: an object is expected")
    groups, scopes, items = _PARTS[signal]
    if _field(request, groups) is None:
        _refuse_other_signal(signal, request)
    checked = Checked(body)
    for group in _objects(request, groups):
        for scoped in _objects(group, scopes):
            for item in _list(scoped, items):
                _count(signal, item, checked)
    return checked


def _refuse_other_signal(signal: Signal, request: dict[str, Any]) -> None:
    for other, (groups, _, _) in _PARTS.items():
        if _field(request, groups) is not None:
            raise wrong_signal(signal, other)


def _count(signal: Signal, item: Any, checked: Checked) -> None:
    if signal == "metrics":
        checked.items += _data_points(item)
        return
    checked.items += 1
    reason = "malformed" if not isinstance(item, dict) else _SPAN_OR_RECORD[signal](item)
    if reason is not None:
        checked.odd[reason] += 1


def _odd_span(span: dict[str, Any]) -> str | None:
    if not _is_id(_field(span, "traceId"), 16):
        return "trace_id"
    return None if _is_id(_field(span, "spanId"), 8) else "span_id"


def _odd_record(record: dict[str, Any]) -> str | None:
    trace_id, span_id = _field(record, "traceId"), _field(record, "spanId")
    if not trace_id or (isinstance(trace_id, str) and not trace_id.strip("0")):
        return "no_trace"
    if not _is_id(trace_id, 16):
        return "trace_id"
    absent = not span_id or (isinstance(span_id, str) and not span_id.strip("0"))
    return None if absent or _is_id(span_id, 8) else "span_id"


_SPAN_OR_RECORD = {"traces": _odd_span, "logs": _odd_record}


def _is_id(value: Any, size: int) -> bool:
    if not isinstance(value, str):
        return False
    try:
        raw = bytes.fromhex(value) if len(value) == 2 * size else base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(raw) == size and any(raw)


def _data_points(metric: Any) -> int:
    if not isinstance(metric, dict):
        return 0
    data = (_field(metric, kind) for kind in _DATA)
    return sum(len(_list(kind, "dataPoints")) for kind in data if isinstance(kind, dict))


def _objects(holder: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    for item in _list(holder, name):
        if not isinstance(item, dict):
            raise Refused(Code.MALFORMED, f"not an OTLP/JSON request: {name} holds {type(item).__name__}, not objects")
        yield item


def _list(holder: dict[str, Any], name: str) -> list[Any]:
    value = _field(holder, name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Refused(Code.MALFORMED, f"not an OTLP/JSON request: {name} is not a list")
    return value


def _field(holder: dict[str, Any], name: str) -> Any:
    value = holder.get(name)
    return holder.get(_snake(name)) if value is None else value


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
