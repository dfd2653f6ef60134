"""The journal: telemetry is in it before its sender reads OK, and until it is put together.

What a log with a consumer group gives (append, read in order from a position, commit what is done with) is all that the
pipeline asks of it, so that such a log can stand in for it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

from otel_eval.clock import Clock
from otel_eval.instruments import NullRecorder, Recorder
from otel_eval.journal import queries
from otel_eval.journal.entry import ClosedTrace, Entry, Request
from otel_eval.journal.errors import JournalClosed, JournalFull, JournalUnusable, JournalUnwritable
from otel_eval.journal.lock import DirectoryLock
from otel_eval.journal.quarantine import Quarantine
from otel_eval.journal.schema import open_for_reading, open_for_writing, storage_errors
from otel_eval.journal.writer import GroupWriter

P = ParamSpec("P")
T = TypeVar("T")

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
            writing = open_for_writing(directory / "journal.db")
            undo.callback(writing.close)
            reading = open_for_reading(directory / "journal.db")
            undo.callback(reading.close)
            with storage_errors():
                last, backlog = queries.state(reading)
            undo.pop_all()
        return cls(
            lock=lock,
            writing=writing,
            reading=reading,
            quarantine=Quarantine(directory / "quarantine"),
            last=last,
            backlog=backlog,
        )


class Journal:
    """Durable intake on SQLite (WAL, ``synchronous=FULL``). One process holds a directory; one event loop uses it."""

    def __init__(self, files: _Files, *, clock: Clock, max_bytes: int, slack_bytes: int, recorder: Recorder) -> None:
        """Use :meth:`open`."""
        self._files = files
        self._clock = clock
        self._recorder = recorder
        self._max_bytes = max_bytes
        self._last = files.last
        self._backlog = files.backlog
        self._arriving = 0
        self._arrival = asyncio.Event()
        self._closed = False
        self._threads = ThreadPoolExecutor(1, "otel-eval-journal-reader")
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

    @property
    def last_seq(self) -> int:
        """The newest entry's sequence number; 0 where there never was one."""
        return self._last

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
        future.add_done_callback(lambda done: self._arrived(done, size))
        # Shielded: a sender that goes away must not leave the count of bytes behind the truth.
        return await asyncio.shield(future)

    async def entries(self, after: int = 0) -> AsyncGenerator[Entry]:
        """Every entry behind ``after`` in order of arrival, then new ones as they arrive; ends when the journal closes."""
        while not self._closed:
            arrival = self._arrival
            page = await self._read(queries.page, after) if self._last > after else []
            for entry in page:
                after = entry.seq
                yield entry
            if not page:
                await arrival.wait()

    async def unreleased(self) -> AsyncGenerator[Entry]:
        """Every entry that is held now, in order of arrival."""
        after, last = 0, self._last
        while after < last and (page := await self._read(queries.page, after)):
            for entry in page:
                after = entry.seq
                yield entry

    async def release(self, seqs: Iterable[int]) -> None:
        """Let these entries go, durably, once what was made of them is stored. Unknown ones are passed over."""
        chosen = tuple(seqs)
        freed = await self._writer.submit(lambda connection: queries.delete(connection, chosen))
        self._count(-freed)

    async def keep(self, trace_id: str, blob: bytes, until_ns: int) -> None:
        """Keep a closed trace and its agent spans, over what was kept of it before.

        In the order of the calls with :meth:`release`: keep, then release, and no crash finds neither.
        """
        await self.keep_all([ClosedTrace(trace_id=trace_id, until_ns=until_ns, blob=blob)])

    async def keep_all(self, traces: Iterable[ClosedTrace]) -> None:
        """:meth:`keep` for many in one step."""
        chosen = tuple(traces)
        await self._writer.submit(lambda connection: queries.keep(connection, chosen))

    async def kept(self, trace_id: str) -> bytes | None:
        """What was kept of that trace; None where it is not known, or expired."""
        return await self._read(queries.kept, trace_id)

    async def closed_traces(self) -> tuple[ClosedTrace, ...]:
        """The closed traces that are still kept, without their blobs: what memory has to know after a start."""
        return await self._read(queries.closed_traces)

    async def expire(self, now_ns: int) -> int:
        """Forget the closed traces kept until before ``now_ns``; how many they were."""
        return await self._writer.submit(lambda connection: queries.expire(connection, now_ns))

    async def position(self, reader: str) -> int:
        """How far the reader of that name has come; 0 where it never said."""
        return await self._read(queries.position, reader)

    async def advance(self, reader: str, seq: int) -> None:
        """Keep, durably, how far a reader has come that goes its own pace."""
        await self._writer.submit(lambda connection: queries.advance(connection, reader, seq))

    async def forget(self, trace_ids: Iterable[str], bodies: Mapping[int, bytes | None] | None = None) -> int:
        """Delete what is kept of these traces, in quarantine too; how many files went from there.

        ``bodies``: what is left of entries that are not yet released, None for nothing; those traces are the caller's to
        take out. What is deleted is overwritten on disk. A closed trace stays known as closed until it expires, so that
        its late spans start nothing.
        """
        chosen, changed = tuple(trace_ids), dict(bodies or {})

        def erase(connection: sqlite3.Connection) -> int:
            queries.empty(connection, chosen)
            return queries.rewrite(connection, changed)

        self._count(-await self._writer.scrub(erase))
        await self._writer.submit(lambda connection: None)  # its turn comes when the write-ahead log has been emptied
        return await self._in_thread(self._files.quarantine.forget, chosen)

    async def forget_quarantined(self, before_ns: int) -> int:
        """Delete what was put into quarantine before that time (Unix epoch); how many requests it were."""
        return await self._in_thread(self._files.quarantine.forget_before, before_ns)

    async def quarantine(self, seq: int, reason: str, *, release: bool = True) -> Path | None:
        """Move an entry out of the way, into a file; None where there is no such entry. Counted.

        Without ``release`` the entry stays for other readers, and is the caller's to release. Raises :class:`JournalUnwritable` where the file cannot be written; the entry then stays.
        """
        entry = await self._read(queries.entry, seq)
        if entry is None:
            return None
        try:
            path = await self._in_thread(self._files.quarantine.put, entry, reason)
        except OSError as error:
            raise JournalUnwritable(f"cannot write to quarantine: {error.strerror}") from error
        if release:
            await self.release([seq])
        self._recorder.record("otel_eval.requests.quarantined", 1)
        return path

    async def close(self) -> None:
        """Finish what was appended, end every reader, let go of the directory. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        await self._writer.close()
        self._arrival.set()
        await asyncio.to_thread(self._threads.shutdown)
        self._files.reading.close()
        self._files.lock.release()

    async def __aenter__(self) -> Journal:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _arrived(self, done: asyncio.Future[int], size: int) -> None:
        self._arriving -= size
        if done.cancelled() or done.exception() is not None:
            return
        self._last = max(self._last, done.result())
        self._count(size)
        self._arrival.set()
        self._arrival = asyncio.Event()

    def _count(self, change: int) -> None:
        self._backlog += change
        self._recorder.record("otel_eval.journal.bytes", self._backlog)

    async def _read(
        self, query: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._closed:
            raise JournalClosed("the journal is closed")

        def run() -> T:
            with storage_errors():
                return query(self._files.reading, *args, **kwargs)

        return await self._in_thread(run)

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *args, **kwargs))
