"""The journal: telemetry is in it before its sender reads OK, and until it is put together.

This is the side that writes. It holds the directory, takes requests in, and makes the changes that the consumer asks for:
itself, where both are one process, or a :class:`~otel_eval.journal.remote.RemoteConsumer`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from otel_eval.clock import Clock
from otel_eval.instruments import NullRecorder, Recorder
from otel_eval.journal import queries
from otel_eval.journal.changes import Change
from otel_eval.journal.consumer import Consumer
from otel_eval.journal.entry import Request
from otel_eval.journal.errors import JournalFull, JournalUnusable
from otel_eval.journal.lock import DirectoryLock
from otel_eval.journal.quarantine import FOLDER, Quarantine
from otel_eval.journal.schema import FILE, open_for_reading, open_for_writing, storage_errors
from otel_eval.journal.writer import GroupWriter

DEFAULT_MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """What an open journal holds on disk, and where it stood when it was opened."""

    lock: DirectoryLock
    writing: sqlite3.Connection
    reading: sqlite3.Connection
    quarantine: Quarantine
    last: int
    backlog: int

    @classmethod
    def acquire(cls, directory: Path) -> _Files:
        directory = directory.absolute()
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise JournalUnusable(f"cannot make {directory}: {error.strerror}") from error
        with ExitStack() as undo:
            lock = DirectoryLock(directory)
            undo.callback(lock.release)
            writing = open_for_writing(directory / FILE)
            undo.callback(writing.close)
            reading = open_for_reading(directory / FILE)
            undo.callback(reading.close)
            with storage_errors():
                last, backlog = queries.newest(reading), queries.size(reading)
            undo.pop_all()
        return cls(
            lock=lock,
            writing=writing,
            reading=reading,
            quarantine=Quarantine(directory / FOLDER),
            last=last,
            backlog=backlog,
        )


class Journal(Consumer):
    """Durable intake on SQLite (WAL, ``synchronous=FULL``). One process holds a directory; one event loop uses it."""

    def __init__(self, files: _Files, *, clock: Clock, max_bytes: int, slack_bytes: int, recorder: Recorder) -> None:
        """Use :meth:`open`."""
        super().__init__(reading=files.reading, quarantine=files.quarantine, last=files.last, recorder=recorder)
        self._lock = files.lock
        self._clock = clock
        self._max_bytes = max_bytes
        self._backlog = files.backlog
        self._arriving = 0
        self._listeners: list[Callable[[int], None]] = []
        self._writer = GroupWriter(files.writing, slack_bytes=slack_bytes)

    @classmethod
    async def open(
        cls,
        directory: Path,
        *,
        clock: Clock,
        max_bytes: int = DEFAULT_MAX_BYTES,
        slack_bytes: int = 32 << 20,
        recorder: Recorder | None = None,
    ) -> Journal:
        """The journal kept in ``directory`` (made, mode 0700, where there is none), with what it held before.

        ``max_bytes`` bounds the entries that are not yet released. ``slack_bytes`` of free space may stay in the file.
        Raises :class:`JournalLocked` (with the pid), :class:`JournalTooNew`, :class:`JournalCorrupt` or
        :class:`JournalUnusable`; each message can be shown to a user as it is.
        """
        files = await asyncio.to_thread(_Files.acquire, directory)
        return cls(
            files, clock=clock, max_bytes=max_bytes, slack_bytes=slack_bytes, recorder=recorder or NullRecorder()
        )

    @property
    def backlog_bytes(self) -> int:
        """Bytes of the entries that are not yet released, waiting ones included."""
        return self._backlog + self._arriving

    async def append(self, request: Request) -> int:
        """The entry's sequence number, once a committed transaction holds it.

        Raises :class:`JournalFull` at once where the backlog would pass ``max_bytes`` (an empty journal takes any
        request), :class:`JournalUnwritable` where the disk refused, :class:`JournalClosed`.
        """
        size = len(request.body)
        backlog = self.backlog_bytes
        if backlog and backlog + size > self._max_bytes:
            raise JournalFull(f"the journal holds {backlog} bytes that are not yet put together, its limit is reached")
        future = self._writer.append((request.signal, request.encoding, self._clock.now_ns(), request.body))
        self._arriving += size
        future.add_done_callback(lambda done: self._stored(done, size))
        # Shielded: a sender that goes away must not leave the count of bytes behind the truth.
        return await asyncio.shield(future)

    def submit(self, change: Change) -> asyncio.Future[int]:
        """A future of what the change gave, done once it is durable. Changes are made in the order of the calls.

        It raises what :meth:`append` raises, but for JournalFull; after :meth:`close` this itself raises JournalClosed.
        """
        done = self._writer.scrub(change.make) if change.scrubs else self._writer.submit(change.make)
        if change.frees:
            done.add_done_callback(self._freed)
        if not change.scrubs:
            return done
        emptied = self._writer.submit(lambda connection: 0)  # its turn comes when the write-ahead log has been emptied
        return asyncio.ensure_future(_both(done, emptied))

    @contextmanager
    def telling(self, listener: Callable[[int], None]) -> Iterator[None]:
        """Call ``listener`` on the event loop with the newest sequence number, for each entry that is committed.

        It is told before the entry's sender is. It must not block or raise.
        """
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    async def close(self) -> None:
        """Finish what was appended, end every reader, let go of the directory. Safe to call twice."""
        if not self._closed:
            await super().close()
            self._lock.release()

    async def _change(self, change: Change) -> int:
        return await asyncio.shield(self.submit(change))

    async def _end(self) -> None:
        await self._writer.close()

    def _stored(self, done: asyncio.Future[int], size: int) -> None:
        self._arriving -= size
        if done.cancelled() or done.exception() is not None:
            return
        self._count(size)
        self._arrived(done.result())
        for listener in tuple(self._listeners):
            listener(self._last)

    def _freed(self, done: asyncio.Future[int]) -> None:
        if not done.cancelled() and done.exception() is None:
            self._count(-done.result())

    def _count(self, change: int) -> None:
        self._backlog += change
        self._recorder.record("otel_eval.journal.bytes", self._backlog)


async def _both(done: asyncio.Future[int], emptied: asyncio.Future[int]) -> int:
    result, _ = await asyncio.gather(done, emptied)
    return result
