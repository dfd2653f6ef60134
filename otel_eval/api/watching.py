"""Following the ledger for callers: woken by what this server stores, and looking now and then for what others do.

A caller is sent a record only when it has taken the one before (gRPC's flow control holds the call there), and the ledger
keeps what is not read yet: a slow one costs a page of memory, and misses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Protocol, TypeVar

from otel_eval.api import messages, places, questions
from otel_eval.api.failures import TooMuch, Unavailable, WrongLedger
from otel_eval.clock import Clock, sleep_until_set
from otel_eval.ledger import AsyncLedger, Place
from otel_eval.v1 import evaluations_pb2 as pb

T = TypeVar("T")

PAGE = 50
"""Records read at a time."""
PACE_S = 0.2
"""From one look to the next, however often something is stored: what many callers follow is read for each of them."""
LOOK_EVERY_S = 5.0
"""Others may write to the same ledger (an experiment, another server): nobody tells us of that."""
SIGN_EVERY_S = 30.0
"""A message without a record where there is none for so long: whatever lies between sees that the call is alive."""


class Read(Protocol):
    """Runs something in a thread that is there for callers."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class Watchers:
    """All calls that follow the ledger, ``most`` at a time."""

    def __init__(self, ledger: AsyncLedger, *, read: Read, clock: Clock, most: int) -> None:
        self._ledger = ledger
        self._read = read
        self._clock = clock
        self._most = most
        self._woken: set[asyncio.Event] = set()
        self._listening = contextlib.ExitStack()
        self._stopping = False

    def start(self) -> None:
        """Listen to what is stored."""
        self._listening.enter_context(self._ledger.listening(lambda _: self._wake()))

    def stop(self) -> None:
        """End all calls: what they have not seen is there when they come back. May be called twice."""
        self._stopping = True
        self._wake()
        self._listening.close()

    async def watch(self, request: pb.WatchEvaluationsRequest) -> AsyncIterator[pb.WatchEvaluationsResponse]:
        """Records behind the request's cursor, each with its own; does not end by itself. Raises CallFailed, LedgerError."""
        wanted = questions.evaluations(request.filter)
        with self._place_among_watchers() as stored:
            ledger = self._ledger.ledger
            place = await self._begin(places.place_of(request.cursor))
            yield pb.WatchEvaluationsResponse(cursor=places.cursor(place))
            sign_at = self._clock.monotonic() + SIGN_EVERY_S
            while True:
                looked_at = self._clock.monotonic()
                stored.clear()
                arrivals = await self._read(partial(ledger.arrivals, place.sequence, **wanted, limit=PAGE))
                for sequence, record in arrivals.records:
                    self._go_on()
                    yield pb.WatchEvaluationsResponse(
                        evaluation=messages.evaluation(record, judge_calls=request.include_judge_calls),
                        cursor=places.cursor(Place(arrivals.reached.identity, sequence)),
                    )
                place = arrivals.reached  # under the identity of now: another server may have given it a new one
                if arrivals.records:
                    sign_at = self._clock.monotonic() + SIGN_EVERY_S
                if len(arrivals.records) < PAGE:
                    await self._wait(stored, looked_at, sign_at)
                if self._clock.monotonic() >= sign_at:
                    yield pb.WatchEvaluationsResponse(cursor=places.cursor(place))
                    sign_at = self._clock.monotonic() + SIGN_EVERY_S

    async def _begin(self, asked: Place | None) -> Place:
        """Where a call begins: here, where nothing is asked. Raises WrongLedger."""
        ledger = self._ledger.ledger
        if asked is None:
            return await self._read(ledger.place)
        place = await self._read(partial(ledger.place_now, asked))
        if place is None:
            raise WrongLedger(
                "the cursor is of another ledger, or from after the backup that this one was restored from: list again, and "
                "begin without a cursor"
            )
        return place

    async def _wait(self, stored: asyncio.Event, looked_at: float, sign_at: float) -> None:
        """Until something was stored, or it is time to look all the same."""
        self._go_on()
        await sleep_until_set(self._clock, stored, min(looked_at + LOOK_EVERY_S, sign_at))
        self._go_on()
        if self._clock.monotonic() < looked_at + PACE_S:
            await self._clock.sleep_until(looked_at + PACE_S)

    @contextlib.contextmanager
    def _place_among_watchers(self) -> Iterator[asyncio.Event]:
        self._go_on()
        if len(self._woken) >= self._most:
            raise TooMuch(f"{self._most} calls follow the ledger already (api.max_concurrent_calls)")
        stored = asyncio.Event()
        self._woken.add(stored)
        try:
            yield stored
        finally:
            self._woken.discard(stored)

    def _go_on(self) -> None:
        if self._stopping:
            raise Unavailable("the server stops: come back with the last cursor")

    def _wake(self) -> None:
        for stored in self._woken:
            stored.set()
