"""Group commit: one thread writes, and one transaction serves everything that waits for it.

While a transaction is being made durable (an fsync: 0.1 to 10 ms), whatever arrives queues up and is the next one.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from otel_eval.journal.errors import JournalClosed, JournalError
from otel_eval.journal.schema import storage_errors

T = TypeVar("T")
Work: TypeAlias = Callable[[sqlite3.Connection], object]
_Waiting: TypeAlias = "tuple[Work, asyncio.Future[object]]"

MAX_GROUP = 256
"""Requests in one transaction: bounds how long the first of them waits for its acknowledgement."""

VACUUM_STEP_PAGES = 2048
"""Free pages given back before looking whether somebody waits."""


class GroupWriter:
    """Runs pieces of work on one connection in one thread, in the order they were handed in, durably."""

    def __init__(self, connection: sqlite3.Connection, *, slack_bytes: int) -> None:
        """``slack_bytes``: free space that the file may keep for what comes next; more goes back to the disk when idle."""
        self._connection = connection
        self._slack_bytes = slack_bytes
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="otel-eval-journal", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """A future that is done once a committed transaction holds ``work``, in the order of submission.

        It raises :class:`JournalUnwritable` or :class:`JournalCorrupt` where the storage refused: then nothing of the
        transaction is kept. Raises :class:`JournalClosed` at once after :meth:`close`.
        """
        if self._closed:
            raise JournalClosed("the journal is closed")
        future: asyncio.Future[T] = self._loop.create_future()
        self._queue.put((work, future))  # type: ignore[arg-type]  # the queue forgets T, the future does not
        return future

    async def close(self) -> None:
        """Finish what was submitted, then stop the thread and close the connection."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            while group := self._next_group():
                self._commit(group)
                if self._queue.empty():
                    self._return_space()
        finally:
            self._closed = True
            self._connection.close()
            self._fail_the_rest()

    def _next_group(self) -> list[_Waiting]:
        """Everything that waits, at least one; empty when closing."""
        first = self._queue.get()
        if first is None:
            return []
        group = [first]
        while len(group) < MAX_GROUP:
            try:
                waiting = self._queue.get_nowait()
            except queue.Empty:
                break
            if waiting is None:
                self._queue.put(None)
                break
            group.append(waiting)
        return group

    def _commit(self, group: list[_Waiting]) -> None:
        outcome: list[object] | JournalError
        try:
            with storage_errors():
                outcome = self._transaction([work for work, _ in group])
        except JournalError as error:
            outcome = error
        self._tell([future for _, future in group], outcome)

    def _transaction(self, works: list[Work]) -> list[object]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            results = [work(self._connection) for work in works]
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        return results

    def _return_space(self) -> None:
        """Shrink the file after a flood, in steps, and stop as soon as somebody waits."""
        try:
            free, pages, page_bytes = (self._pragma(name) for name in ("freelist_count", "page_count", "page_size"))
            if free * page_bytes <= self._slack_bytes or free * 2 < pages:
                return
            while self._queue.empty() and self._pragma("freelist_count"):
                # Each row that the statement gives back is one freed page: it has to be read to its end.
                self._connection.execute(f"PRAGMA incremental_vacuum({VACUUM_STEP_PAGES})").fetchall()
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.OperationalError:
            return  # no room to make room: it is tried again after the next transaction

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _tell(self, futures: list[asyncio.Future[object]], outcome: list[object] | JournalError) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_resolve, futures, outcome)

    def _fail_the_rest(self) -> None:
        rest: list[asyncio.Future[object]] = []
        while not self._queue.empty():
            if (waiting := self._queue.get()) is not None:
                rest.append(waiting[1])
        if rest:
            self._tell(rest, JournalClosed("the journal is closed"))


def _resolve(futures: list[asyncio.Future[object]], outcome: list[object] | JournalError) -> None:
    for index, future in enumerate(futures):
        if future.done():  # cancelled: its sender went away
            continue
        if isinstance(outcome, JournalError):
            future.set_exception(outcome)
        else:
            future.set_result(outcome[index])
