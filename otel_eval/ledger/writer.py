"""The thread that writes to the ledger: many writes in a transaction.

A commit to disk costs the same for one row as for a thousand, so writes that arrive while one is under way share the
next (group commit). Records of evaluations that end one by one wait for one another a moment (``PACE_S``).
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection

from otel_eval.ledger.errors import LedgerError, LedgerUnavailable
from otel_eval.ledger.grouping import Bill, Exported, Write, steps
from otel_eval.ledger.ledger import Ledger
from otel_eval.ledger.model import Change, Stored
from otel_eval.ledger.rows import Prepared

T = TypeVar("T")
MAX_GROUP = 256
PACE_S = 0.08
"""Seconds from one transaction that only ends evaluations to the next. One that ends alone does not wait; where many end,
a transaction for each costs more than all the rest of storing it. It is little beside what a model takes to answer."""


class Writer:
    """Stores what it is handed, in its order, and tells whoever awaits it on their event loops."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._writes: queue.SimpleQueue[Write | None] = queue.SimpleQueue()
        self._listeners: list[Callable[[tuple[Stored, ...]], None]] = []
        self._closed = False
        self._arrived = threading.Event()
        self._keeping_pace = False
        self._ended_at = float("-inf")
        self._thread = threading.Thread(target=self._run, name="otel-eval-ledger", daemon=True)
        self._thread.start()

    def put(self, what: Prepared | Bill | Exported | Callable[[Connection], Any]) -> asyncio.Future[Any]:
        """Have it stored; the future has its result once it is on disk. Raises LedgerError once closed."""
        if self._closed:
            raise LedgerError("the ledger is closed")
        loop = asyncio.get_running_loop()
        write = Write(what, loop.create_future(), loop)
        self._writes.put(write)
        # What joins a group that waits for its time anyway is found then: to wake the thread for it costs more than it.
        if not (isinstance(what, Bill) or (self._keeping_pace and write.keeps_pace)):
            self._arrived.set()
        return write.future

    async def close(self) -> None:
        """Finish what was handed in. May be called twice."""
        if not self._closed:
            self._closed = True
            self._writes.put(None)
            self._arrived.set()
            await asyncio.to_thread(self._thread.join)

    @contextlib.contextmanager
    def listening(self, listener: Callable[[tuple[Stored, ...]], None]) -> Iterator[None]:
        """See :meth:`~otel_eval.ledger.asynchronous.AsyncLedger.listening`."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    # In the thread

    def _run(self) -> None:
        last = False
        while not last:
            first = self._writes.get()
            if first is None:
                return
            group, last = self._gather(first)
            self._commit(group)

    def _gather(self, first: Write) -> tuple[list[Write], bool]:
        """What goes into one transaction, and whether it is the last."""
        group, began = [first], time.monotonic()
        while True:
            self._arrived.clear()
            while len(group) < MAX_GROUP:
                try:
                    following = self._writes.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    return group, True
                group.append(following)
            left = self._due(group, began) - time.monotonic()
            if left <= 0 or len(group) >= MAX_GROUP:
                break
            self._keeping_pace = any(write.of_records_alone for write in group)
            self._arrived.wait(left)
        self._keeping_pace = False
        if any(write.of_records_alone for write in group):
            self._ended_at = time.monotonic()
        return group, False

    def _due(self, group: Sequence[Write], began: float) -> float:
        """When the group is to be stored: ended evaluations and exported ones at their pace, a bill with its record, all
        else at once."""
        if all(isinstance(write.what, Bill) for write in group):
            return began + PACE_S
        if all(write.keeps_pace for write in group):
            return self._ended_at + PACE_S
        return began

    def _commit(self, group: list[Write]) -> None:
        """One transaction for all; where that fails, each alone, so that one bad write does not fail its neighbours."""
        planned = steps(group, outbox=self._ledger.outbox)
        try:
            results = self._ledger.write_all([step.change for step in planned])
        except Exception as error:  # noqa: BLE001 - handed to whoever awaits the write
            if len(group) > 1 and not isinstance(error, LedgerUnavailable):  # the database's fault is everybody's
                for write in group:
                    self._commit([write])
            else:
                for loop, of_loop in _by_loop([(write, error) for write in group]).items():
                    _tell(loop, partial(_failed, of_loop))
            return
        done = [
            pair
            for step, whole in zip(planned, results, strict=True)
            for pair in zip(step.writes, step.share(whole), strict=True)
        ]
        for loop, of_loop in _by_loop(done).items():
            _tell(loop, partial(self._stored, of_loop))

    def _stored(self, done: Sequence[tuple[Write, Any]]) -> None:
        """On the event loop: listeners first, then whoever awaits the writes."""
        stored = tuple(
            each
            for write, result in done
            if write.stores_records
            for each in result
            if each.change is not Change.FORGOTTEN
        )
        try:
            if stored:
                for listener in tuple(self._listeners):
                    listener(stored)
        finally:
            for write, result in done:
                if not write.future.done():
                    write.future.set_result(result)


def _failed(group: Sequence[tuple[Write, Exception]]) -> None:
    for write, error in group:
        if not write.future.done():
            write.future.set_exception(error)


def _by_loop(pairs: Iterable[tuple[Write, T]]) -> dict[asyncio.AbstractEventLoop, list[tuple[Write, T]]]:
    """What each event loop is told at once: waking one costs more than all that it is told."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Write, T]]] = {}
    for write, result in pairs:
        by_loop.setdefault(write.loop, []).append((write, result))
    return by_loop


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop that asked is closed: nobody waits any more
        loop.call_soon_threadsafe(what)
