"""What goes into the journal and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Signal: TypeAlias = Literal["traces", "logs", "metrics"]
Encoding: TypeAlias = Literal["protobuf", "json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One OTLP export request: ``body`` is the bytes as they arrived, decompressed."""

    signal: Signal
    encoding: Encoding
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A request that the journal holds. ``seq`` grows in order of arrival and is never given twice."""

    seq: int
    request: Request
    received_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedTrace:
    """A trace that was put together: its raw agent spans are kept until ``until_ns`` (Unix epoch), for late spans."""

    trace_id: str
    until_ns: int
    blob: bytes = b""
