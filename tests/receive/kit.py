"""Requests and receivers for the tests of taking telemetry in."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_eval.clock import SystemClock
from otel_eval.instruments import BY_NAME
from otel_eval.journal import Entry, Journal
from otel_eval.receive.intake import Intake
from otel_eval.receive.listener import Listener
from otel_eval.receive.otlp_lean_pb2 import Request as Lean
from otel_eval.receive.receivers import Receivers

TRACE, SPAN = bytes(range(1, 17)), bytes(range(1, 9))


def span(**fields: Any) -> Span:
    return Span(**{"trace_id": TRACE, "span_id": SPAN, "name": "chat", "start_time_unix_nano": 5, **fields})


def traces(*spans: Span | bytes) -> bytes:
    return framed(*(each if isinstance(each, bytes) else each.SerializeToString() for each in spans))


def framed(*items: bytes) -> bytes:
    request = Lean()
    request.resource_items.add().scope_items.add().items.extend(items)
    return request.SerializeToString()


def logs(*records: LogRecord) -> bytes:
    return framed(*(record.SerializeToString() for record in records))


def metrics(names: tuple[str, ...] = ("requests",)) -> bytes:
    request = ExportMetricsServiceRequest()
    for name in names:
        metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name=name, description="8 bytes.")
        metric.sum.data_points.add(as_int=1, time_unix_nano=5)
        metric.sum.data_points.add(as_int=2, time_unix_nano=5)
    return request.SerializeToString()


A_LOG = LogRecord(time_unix_nano=5, severity_number=9, trace_id=TRACE, span_id=SPAN)


class Counts:
    """A recorder that adds up: ``counts["otel_eval.spans.dropped", "trace_id"]``, by the labels' values."""

    def __init__(self) -> None:
        self.counted: Counter[tuple[str, ...]] = Counter()
        self._counted_more = asyncio.Event()

    def record(self, name: str, amount: float = 1, labels: Mapping[str, str] | None = None) -> None:
        assert set(labels or {}) == set(BY_NAME[name].labels)
        self.counted[(name, *(labels or {}).values())] += int(amount)
        self._counted_more.set()

    async def reached(self, *key: str) -> None:
        """Return once anything was counted there."""
        while not self.counted[key]:
            self._counted_more.clear()
            await self._counted_more.wait()

    def __getitem__(self, key: tuple[str, ...] | str) -> int:
        return self.counted[(key,) if isinstance(key, str) else key]


class Taking:
    """What takes telemetry in a test, and what it took."""

    def __init__(self, journal: Journal, receivers: Receivers, counts: Counts) -> None:
        self.journal = journal
        self.receivers = receivers
        self.counts = counts

    @property
    def grpc(self) -> str:
        return self.receivers.endpoints["grpc"]

    @property
    def http(self) -> str:
        return self.receivers.endpoints["http"]

    async def entries(self) -> list[Entry]:
        """All that the journal holds now."""
        entries: list[Entry] = []
        if self.journal.backlog_bytes:
            async for entry in self.journal.entries():
                entries.append(entry)
                if entry.seq == self.journal.last_seq:
                    break
        return entries


class Start:
    """Starts receivers with settings of a test's own."""

    def __init__(self, directory: Path, stack: AsyncExitStack) -> None:
        self._directory = directory
        self._stack = stack

    async def __call__(
        self, *, max_bytes: int = 1 << 30, max_in_flight_bytes: int = 1 << 28, forwarding: bool = False, **listener: Any
    ) -> Taking:
        counts = Counts()
        journal = await Journal.open(self._directory, clock=SystemClock(), max_bytes=max_bytes)
        await self._stack.enter_async_context(journal)
        intake = Intake(journal, recorder=counts, forwarding=forwarding, max_in_flight_bytes=max_in_flight_bytes)
        listening = Listener(endpoint="127.0.0.1:0", **listener)
        receivers = Receivers(intake, grpc=listening, http=listening)
        await receivers.start()
        self._stack.push_async_callback(receivers.stop, 0)
        return Taking(journal, receivers, counts)
