"""What both encodings of OTLP share: which ids are usable, and what a status and an event are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from otel_eval.signals import LogRecord

Moment: TypeAlias = tuple[str | None, str | None, int]
"""A span and a time."""

STATUS = {0: "unset", 1: "ok", 2: "error", "STATUS_CODE_OK": "ok", "STATUS_CODE_ERROR": "error"}
MAX_DEPTH = 64
"""Deeper nesting of attribute values is cut off: nobody writes it but to exhaust a stack."""


class MalformedRequest(ValueError):
    """The bytes are no OTLP request of that signal and encoding."""


def span_ids(trace_id: str, span_id: str, parent_id: str, odd: Counter[str]) -> tuple[str, str, str | None] | None:
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


def log_ids(trace_id: str, span_id: str, odd: Counter[str]) -> tuple[str | None, str | None]:
    if not trace_id.strip("0"):
        return None, None
    if len(trace_id) != 32 or (span_id and len(span_id) != 16):
        odd["log_ids"] += 1
        return None, None
    return trace_id, span_id if span_id.strip("0") else None


def event_name(attributes: Mapping[str, Any]) -> str:
    """The name that SDKs of 2024 and 2025 (``event.name``) and LiteLLM (``event_name``) wrote as an attribute."""
    name = attributes.get("event.name") or attributes.get("event_name")
    return name if isinstance(name, str) else ""


def parent_is_remote(flags: int) -> bool | None:
    """Source: OTLP ``SpanFlags``: 0x100 says that 0x200 is to be believed."""
    return bool(flags & 0x200) if flags & 0x100 else None


def in_order(records: Iterable[LogRecord]) -> Iterator[LogRecord]:
    """The records of one request, with their places where several of one span have the same time.

    JavaScript's clock for log records counts milliseconds, and an instrumentation writes all messages of a call within one.
    Of two that are the same in all they say, the second is a copy: a user may say yes twice. Where all of them come over and
    over again, a collector has put what was sent twice into one request: those have the places of the first.
    """
    taken = list(records)
    together: dict[Moment, list[LogRecord]] = {}
    for record in taken:
        together.setdefault(_moment(record), []).append(record)
    placed = {moment: _placed(some) for moment, some in together.items() if len(some) > 1 and some[0].span_id}
    for record in taken:
        at = placed.get(_moment(record)) if placed else None
        yield record if at is None else next(at)


def _placed(together: Sequence[LogRecord]) -> Iterator[LogRecord]:
    said = [repr((record.event_name, record.body, record.attributes)) for record in together]
    lengths = (length for length in range(1, len(said)) if len(said) % length == 0)
    among = next((n for n in lengths if said[:n] * (len(said) // n) == said), len(said))
    seen: Counter[str] = Counter()
    for at, record in enumerate(together):
        if at % among == 0:
            seen.clear()
        yield replace(record, place=at % among, copy=seen[said[at]], among=among)
        seen[said[at]] += 1


def _moment(record: LogRecord) -> Moment:
    return record.trace_id, record.span_id, record.time_ns
