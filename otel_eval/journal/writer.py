"""Group commit: one thread writes, and one transaction serves everything that waits for it.

While a transaction is being made durable (an fsync: 0.1 to 10 ms), whatever arrives queues up and is the next one.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from otel_eval.journal.errors import JournalClosed, JournalError
from otel_eval.journal.queries import MAX_ROWS, Row, insert, scrubbing
from otel_eval.journal.schema import storage_errors

T = TypeVar("T")
Work: TypeAlias = Callable[[sqlite3.Connection], Any]
Future: TypeAlias = "asyncio.Future[Any]"

MAX_STEPS = 256
"""Steps in one transaction: bounds how long the first of them waits for its acknowledgement."""

VACUUM_STEP_PAGES = 256
"""Free pages given back before looking whether somebody waits."""


@dataclass(frozen=True, slots=True)
class _Append:
    row: Row
    future: Future


@dataclass(frozen=True, slots=True)
class _Other:
    work: Work
    future: Future


_Step: TypeAlias = "list[_Append] | _Other"
"""What one call of SQLite does: appends that follow on one another go in as one statement."""


class GroupWriter:
    """Runs pieces of work on one connection in one thread, in the order they were handed in, durably."""

    def __init__(self, connection: sqlite3.Connection, *, slack_bytes: int) -> None:
        """``slack_bytes``: free space that the file may keep for what comes next; more goes back to the disk when idle."""
        self._connection = connection
        self._slack_bytes = slack_bytes
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Append | _Other | None] = queue.SimpleQueue()
        self._closed = False
        self._shrinking = False
        self._thread = threading.Thread(target=self._run, name="otel-eval-journal", daemon=True)
        self._thread.start()

    def append(self, row: Row) -> asyncio.Future[int]:
        """:meth:`submit` for a new entry: its sequence number."""
        future: asyncio.Future[int] = self._future()
        self._queue.put(_Append(row, future))
        return future

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """A future that is done once a committed transaction holds ``work``, in the order of submission.

        It raises :class:`JournalUnwritable` or :class:`JournalCorrupt` where the storage refused: then nothing of the
        transaction is kept. Raises :class:`JournalClosed` at once after :meth:`close`.
        """
        future: asyncio.Future[T] = self._future()
        self._queue.put(_Other(work, future))
        return future

    def scrub(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """:meth:`submit` for what must not be found in the files afterwards, nor in the write-ahead log."""

        def scrubbed(connection: sqlite3.Connection) -> T:
            with scrubbing(connection):
                result = work(connection)
            self._shrinking = True  # which ends with emptying the log
            return result

        return self.submit(scrubbed)

    async def close(self) -> None:
        """Finish what was submitted, then stop the thread and close the connection."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _future(self) -> Future:
        if self._closed:
            raise JournalClosed("the journal is closed")
        return self._loop.create_future()

    def _run(self) -> None:
        try:
            while steps := self._waiting():
                self._commit(steps)
                if self._shrinking or any(isinstance(step, _Other) for step in steps):  # appending frees nothing
                    self._return_space()
        finally:
            self._closed = True
            self._connection.close()
            self._tell(_futures(self._waiting(block=False)), JournalClosed("the journal is closed"))

    def _waiting(self, *, block: bool = True) -> list[_Step]:
        """Everything that waits; waits itself for the first, if told to. Empty when closing."""
        steps: list[_Step] = []
        while len(steps) < MAX_STEPS:
            try:
                waiting = self._queue.get(block and not steps)
            except queue.Empty:
                break
            if waiting is None:
                if steps:
                    self._queue.put(None)  # nothing can follow it: close() lets nobody in any more
                break
            if isinstance(waiting, _Other):
                steps.append(waiting)
            elif steps and isinstance(steps[-1], list) and len(steps[-1]) < MAX_ROWS:
                steps[-1].append(waiting)
            else:
                steps.append([waiting])
        return steps

    def _commit(self, steps: list[_Step]) -> None:
        outcome: list[Any] | JournalError
        try:
            with storage_errors():
                outcome = self._transaction(steps)
        except JournalError as error:
            outcome = error
        self._tell(_futures(steps), outcome)

    def _transaction(self, steps: list[_Step]) -> list[Any]:
        if len(steps) == 1 and isinstance(steps[0], list):
            return self._apply(steps[0])  # a statement alone is a transaction of its own
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            results = [result for step in steps for result in self._apply(step)]
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        return results

    def _apply(self, step: _Step) -> list[Any]:
        if isinstance(step, _Other):
            return [step.work(self._connection)]
        return list(insert(self._connection, [append.row for append in step]))

    def _return_space(self) -> None:
        """Shrink the file after a flood: by one step after each transaction, by more while nobody waits."""
        try:
            if not self._shrinking:
                free, pages, page_bytes = (self._pragma(name) for name in ("freelist_count", "page_count", "page_size"))
                self._shrinking = free * page_bytes > self._slack_bytes and free * 2 > pages
            while self._shrinking:
                # As a script: execute() would stop at the first freed page, which the statement gives as a row.
                self._connection.executescript(f"PRAGMA incremental_vacuum({VACUUM_STEP_PAGES})")
                if self._pragma("freelist_count") == 0:
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                    self._shrinking = False
                if not self._queue.empty():
                    return
        except sqlite3.OperationalError:
            return  # no room to make room: it is tried again after the next transaction

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _tell(self, futures: list[Future], outcome: list[Any] | JournalError) -> None:
        if futures and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_resolve, futures, outcome)


def _futures(steps: list[_Step]) -> list[Future]:
    return [item.future for step in steps for item in (step if isinstance(step, list) else (step,))]


def _resolve(futures: list[Future], outcome: list[Any] | JournalError) -> None:
    for index, future in enumerate(futures):
        if future.done():  # cancelled: whoever waited went away
            continue
        if isinstance(outcome, JournalError):
            future.set_exception(outcome)
        else:
            future.set_result(outcome[index])
