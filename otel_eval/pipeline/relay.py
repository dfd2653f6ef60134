"""Forwarding, made durable by the journal: entries are sent on in the order of their arrival, one after another.

How far it came is a position that the journal keeps. Nothing is let go before it was sent on; a crash repeats what was
sent on since the position was last written (:data:`MARK_EVERY_S`), a clean stop nothing. While the next endpoint is down
the journal fills, and at its limit senders are asked to come back: an outage costs delay.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Protocol

from otel_eval.clock import Clock
from otel_eval.journal import Consumer, Encoding, Entry, Signal

MARK_EVERY_S = 1.0
POSITION = "forwarded"


class Deliver(Protocol):
    """Sends a request on; returns when the next endpoint has taken it or has refused it for good."""

    def __call__(self, signal: Signal, encoding: Encoding, body: bytes) -> Awaitable[object]: ...


class Relay:
    """Sends on what the journal holds. ``progress`` is told how far it came, once that is durable."""

    def __init__(
        self, *, journal: Consumer, deliver: Deliver, clock: Clock, progress: Callable[[int], Awaitable[None]]
    ) -> None:
        self._journal = journal
        self._deliver = deliver
        self._clock = clock
        self._progress = progress
        self._sent = self._marked = 0
        self._moved = asyncio.Event()
        self._rewritten = asyncio.Event()

    def reread(self) -> None:
        """Entries were written again: none is sent on as it was before, also one that is being tried again and again."""
        self._rewritten.set()

    async def run(self) -> None:
        """Runs until cancelled; the position is written before it ends."""
        self._sent = self._marked = await self._journal.position(POSITION)
        await self._progress(self._marked)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send())
                tasks.create_task(self._mark_now_and_then())
        finally:
            await self._mark()

    async def _send(self) -> None:
        while True:
            self._rewritten.clear()
            async with contextlib.aclosing(self._journal.entries(after=self._sent)) as entries:
                async for entry in entries:
                    if not await self._send_one(entry):
                        break
                    self._sent = entry.seq
                    self._moved.set()
                else:
                    return

    async def _send_one(self, entry: Entry) -> bool:
        """False where the entry is to be read again, and nobody knows whether it was sent on."""
        if self._rewritten.is_set():
            return False
        request = entry.request
        sending = asyncio.ensure_future(self._deliver(request.signal, request.encoding, request.body))
        rewritten = asyncio.ensure_future(self._rewritten.wait())
        try:
            await asyncio.wait({sending, rewritten}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                return False
            sending.result()
            return True
        finally:
            sending.cancel()
            rewritten.cancel()

    async def _mark_now_and_then(self) -> None:
        while True:
            await self._moved.wait()
            self._moved.clear()
            await self._mark()
            await self._clock.sleep_until(self._clock.monotonic() + MARK_EVERY_S)

    async def _mark(self) -> None:
        sent = self._sent
        if sent > self._marked:
            await self._journal.advance(POSITION, sent)
            self._marked = sent
            await self._progress(sent)
