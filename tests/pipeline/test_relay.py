"""Forwarding by the clock: how far it came is written now and then, and at the end."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from otel_eval.journal import Journal, Request
from otel_eval.pipeline.relay import MARK_EVERY_S, POSITION, Relay
from otel_eval.testing.clock import ManualClock


class Endpoint:
    """Takes a request each time that it is allowed to."""

    def __init__(self, allowed: int) -> None:
        self.tried: list[bytes] = []
        self.bodies: list[bytes] = []
        self._allowed = asyncio.Semaphore(allowed)
        self._took = asyncio.Condition()

    async def deliver(self, signal: str, encoding: str, body: bytes) -> Any:
        async with self._took:
            self.tried.append(body)
            self._took.notify_all()
        await self._allowed.acquire()
        async with self._took:
            self.bodies.append(body)
            self._took.notify_all()

    def allow(self) -> None:
        self._allowed.release()

    async def trying(self, body: bytes) -> None:
        async with asyncio.timeout(10), self._took:
            await self._took.wait_for(lambda: self.tried and self.tried[-1] == body)

    async def took(self, count: int) -> None:
        async with asyncio.timeout(10), self._took:
            await self._took.wait_for(lambda: len(self.bodies) >= count)


class Progress:
    """What the relay told."""

    def __init__(self) -> None:
        self.told: list[int] = []
        self._changed = asyncio.Condition()

    async def __call__(self, seq: int) -> None:
        async with self._changed:
            self.told.append(seq)
            self._changed.notify_all()

    async def reached(self, seq: int) -> None:
        async with asyncio.timeout(10), self._changed:
            await self._changed.wait_for(lambda: self.told and self.told[-1] == seq)


def traces(body: bytes) -> Request:
    return Request(signal="traces", encoding="protobuf", body=body)


@contextlib.asynccontextmanager
async def relaying(journal: Journal, endpoint: Endpoint, clock: ManualClock, progress: Progress) -> Any:
    relay = Relay(journal=journal, deliver=endpoint.deliver, clock=clock, progress=progress)
    task = asyncio.create_task(relay.run())
    try:
        yield relay
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_progress_is_durable_before_it_is_told(tmp_path: Path) -> None:
    """At the first entry, then once a second for all that went meanwhile, and at the end."""
    clock, endpoint, progress = ManualClock(), Endpoint(allowed=3), Progress()
    async with await Journal.open(tmp_path, clock=clock) as journal:
        async with relaying(journal, endpoint, clock, progress):
            await journal.append(traces(b"1"))
            await progress.reached(1)
            assert await journal.position(POSITION) == 1
            await clock.wait_for_sleepers()
            for body in (b"2", b"3", b"4"):
                await journal.append(traces(body))
            await endpoint.trying(b"4")
            assert progress.told == [0, 1]
            clock.advance(MARK_EVERY_S)
            await progress.reached(3)
            await clock.wait_for_sleepers()
            endpoint.allow()
            await journal.append(traces(b"5"))
            await endpoint.trying(b"5")
        assert await journal.position(POSITION) == 4
        async with relaying(journal, endpoint, clock, progress):
            endpoint.allow()
            await endpoint.took(5)
    assert endpoint.bodies == [b"1", b"2", b"3", b"4", b"5"]


async def test_an_entry_that_is_rewritten_while_it_waits_is_sent_as_it_is_now(tmp_path: Path) -> None:
    """The next endpoint was down when it was read; one that is gone is passed over."""
    clock, endpoint, progress = ManualClock(), Endpoint(allowed=1), Progress()
    async with await Journal.open(tmp_path, clock=clock) as journal:
        for body in (b"1", b"old", b"gone", b"4"):
            await journal.append(traces(body))
        async with relaying(journal, endpoint, clock, progress) as relay:
            await endpoint.trying(b"old")
            await journal.forget([], {2: b"new", 3: None})
            relay.reread()
            await endpoint.trying(b"new")
            for _ in range(3):
                endpoint.allow()
            await endpoint.took(3)
    assert endpoint.bodies == [b"1", b"new", b"4"]
