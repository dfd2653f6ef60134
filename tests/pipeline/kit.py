"""A pipeline between a journal and a ledger of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from otel_eval.assemble.completion import CompletionSettings, Ready
from otel_eval.instruments import NullRecorder
from otel_eval.journal import Journal, Request
from otel_eval.loop_guard import LoopGuard
from otel_eval.pipeline import Pipeline
from otel_eval.signals import Span
from otel_eval.testing.clock import ManualClock
from otel_eval.testing.otlp import otlp_request


class TakesInteractions(Protocol):
    """What the pipeline asks of a ledger."""

    async def accept(self, completed: Iterable[Ready], aliases: Any = None) -> None: ...
    async def told_of(self, trace_ids: Collection[str]) -> Mapping[str, Mapping[str, str]]: ...


@asynccontextmanager
async def pipeline(directory: Path, ledger: TakesInteractions, clock: ManualClock) -> AsyncIterator[Journal]:
    """One that runs, until the block ends; it must not have ended by itself."""
    async with await Journal.open(directory, clock=clock) as journal:
        running = Pipeline(
            journal=journal,
            accept=ledger.accept,
            guard=LoopGuard(bytes(32)),
            clock=clock,
            recorder=NullRecorder(),
            settings=CompletionSettings(),
            told_of=ledger.told_of,
        )
        task = asyncio.create_task(running.run())
        yield journal
        assert not task.done()
        task.cancel()
        await asyncio.wait([task])


async def store(journal: Journal, spans: Sequence[Span]) -> None:
    """As one request."""
    await journal.append(Request(signal="traces", encoding="protobuf", body=otlp_request(spans)))


async def settled(journal: Journal, clock: ManualClock) -> None:
    """Turn the clock until the journal needs none of its entries."""
    async with asyncio.timeout(10):
        while journal.backlog_bytes:
            await clock.run_for(1)
            await asyncio.sleep(0)
