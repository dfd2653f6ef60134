"""Taking the telemetry of some traces out of a stored request; all else in it stays byte for byte (JSON: value for value)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Collection
from typing import Any

import orjson
from google.protobuf.message import DecodeError

from otel_eval.journal import Request
from otel_eval.receive.otlp_lean_pb2 import Request as Lean
from otel_eval.receive.soundness import ITEMS

_PARTS = {
    "traces": (("resourceSpans", "resource_spans"), ("scopeSpans", "scope_spans"), ("spans",)),
    "logs": (("resourceLogs", "resource_logs"), ("scopeLogs", "scope_logs"), ("logRecords", "log_records")),
}


def without_traces(request: Request, trace_ids: Collection[str]) -> bytes | None:
    """The body without the spans and log records of these traces; None where none is left, the body itself where none was.

    Metrics belong to no trace and stay. A request that cannot be read at all stays as it is: it goes to quarantine.
    """
    if request.signal == "metrics":
        return request.body
    try:
        return (_of_json if request.encoding == "json" else _of_protobuf)(request, frozenset(trace_ids))
    except (DecodeError, ValueError):
        return request.body


def value_bytes(text: str) -> tuple[bytes, ...]:
    """How a request writes a text that is a whole value: in protobuf (a string of an ``AnyValue``), and in JSON.

    For requests that cannot be read: whose they are is known by these alone.
    """
    raw = text.encode()
    length, rest = b"", len(raw)
    while rest > 0x7F:
        length, rest = length + bytes([rest & 0x7F | 0x80]), rest >> 7
    in_json = {json.dumps(text).encode(), json.dumps(text, ensure_ascii=False).encode()}
    return (b"\x0a" + length + bytes([rest]) + raw, *in_json)


def _of_protobuf(request: Request, trace_ids: frozenset[str]) -> bytes | None:
    lean = Lean.FromString(request.body)
    raw_ids = [bytes.fromhex(trace_id) for trace_id in trace_ids]
    kind = ITEMS[request.signal]

    def belongs(item: bytes) -> bool:
        if not any(raw_id in item for raw_id in raw_ids):
            return False
        try:
            parsed: Any = kind.FromString(item)
        except DecodeError:
            return True  # it names such a trace, and nothing else can be made of it
        return parsed.trace_id in raw_ids

    taken = left = 0
    for group in lean.resource_items:
        for scoped in group.scope_items:
            kept = [item for item in scoped.items if not belongs(item)]
            taken += len(scoped.items) - len(kept)
            left += len(kept)
            if len(kept) < len(scoped.items):
                del scoped.items[:]
                scoped.items.extend(kept)
    return _body(request, taken, left, lean.SerializeToString)


def _of_json(request: Request, trace_ids: frozenset[str]) -> bytes | None:
    tree = orjson.loads(request.body)
    groups, scopes, items = _PARTS[request.signal]
    taken = left = 0
    for group in _objects(tree, groups):
        for scoped in _objects(group, scopes):
            for name in items:
                found = scoped.get(name)
                if isinstance(found, list):
                    scoped[name] = [item for item in found if _trace_id(item) not in trace_ids]
                    taken += len(found) - len(scoped[name])
                    left += len(scoped[name])
    return _body(request, taken, left, lambda: orjson.dumps(tree))


def _body(request: Request, taken: int, left: int, written: Callable[[], bytes]) -> bytes | None:
    if not taken:
        return request.body
    return written() if left else None


def _objects(holder: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
    if not isinstance(holder, dict):
        return []
    found = (holder.get(name) for name in names)
    return [item for items in found if isinstance(items, list) for item in items if isinstance(item, dict)]


def _trace_id(item: Any) -> str | None:
    """In hex, whether it is written so or, as protobuf's own JSON does, in base64."""
    value = (item.get("traceId") or item.get("trace_id")) if isinstance(item, dict) else None
    if not isinstance(value, str):
        return None
    if len(value) == 32:
        return value.lower()
    try:
        return base64.b64decode(value, validate=True).hex()
    except (binascii.Error, ValueError):
        return None
