"""The journal as its consumer sees it: read in order from a position, let go of what is done with.

That is what a log with a consumer group gives, and all that the pipeline asks for, so that such a log can stand in for it.
A consumer reads the file by itself and changes nothing in it: what is to change goes to whoever writes it, in the same
process (:class:`~otel_eval.journal.journal.Journal`) or in another (:mod:`otel_eval.journal.remote`).
"""

from __future__ import annotations

import asyncio
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from otel_eval.instruments import Recorder
from otel_eval.journal import queries
from otel_eval.journal.changes import Advance, Change, Expire, Forget, Keep, Release
from otel_eval.journal.entry import ClosedTrace, Entry
from otel_eval.journal.errors import JournalClosed, JournalUnwritable
from otel_eval.journal.quarantine import Quarantine
from otel_eval.journal.schema import storage_errors

P = ParamSpec("P")
T = TypeVar("T")


class Consumer(ABC):
    """One for a journal; one event loop uses it. What it raises: JournalUnwritable, JournalCorrupt, JournalClosed."""

    def __init__(self, *, reading: sqlite3.Connection, quarantine: Quarantine, last: int, recorder: Recorder) -> None:
        """``last``: the newest sequence number that was given when ``reading`` was opened."""
        self._reading = reading
        self._quarantine = quarantine
        self._recorder = recorder
        self._last = last
        self._arrival = asyncio.Event()
        self._closed = False
        self._threads = ThreadPoolExecutor(1, "otel-eval-journal-reader")

    @property
    def last_seq(self) -> int:
        """The newest entry's sequence number, as far as is known here; 0 where there never was one."""
        return self._last

    # Reading

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
        after, last = 0, await self._read(queries.newest)
        while after < last and (page := await self._read(queries.page, after)):
            for entry in page:
                after = entry.seq
                yield entry

    async def kept(self, trace_id: str) -> bytes | None:
        """What was kept of that trace; None where it is not known, or expired."""
        return await self._read(queries.kept, trace_id)

    async def closed_traces(self) -> tuple[ClosedTrace, ...]:
        """The closed traces that are still kept, without their blobs: what memory has to know after a start."""
        return await self._read(queries.closed_traces)

    async def position(self, reader: str) -> int:
        """How far the reader of that name has come; 0 where it never said."""
        return await self._read(queries.position, reader)

    # Changing

    async def release(self, seqs: Iterable[int]) -> None:
        """Let these entries go, durably, once what was made of them is stored. Unknown ones are passed over."""
        await self._change(Release(tuple(seqs)))

    async def keep(self, trace_id: str, blob: bytes, until_ns: int) -> None:
        """Keep a closed trace and its agent spans, over what was kept of it before.

        In the order of the calls with :meth:`release`: keep, then release, and no crash finds neither.
        """
        await self.keep_all([ClosedTrace(trace_id=trace_id, until_ns=until_ns, blob=blob)])

    async def keep_all(self, traces: Iterable[ClosedTrace]) -> None:
        """:meth:`keep` for many in one step."""
        await self._change(Keep(tuple(traces)))

    async def expire(self, now_ns: int) -> int:
        """Forget the closed traces kept until before ``now_ns``; how many they were."""
        return await self._change(Expire(now_ns))

    async def advance(self, reader: str, seq: int) -> None:
        """Keep, durably, how far a reader has come that goes its own pace."""
        await self._change(Advance(reader, seq))

    async def forget(
        self,
        trace_ids: Iterable[str],
        bodies: Mapping[int, bytes | None] | None = None,
        values: Sequence[bytes] = (),
    ) -> int:
        """Delete what is kept of these traces, in quarantine too; how many files went from there.

        From quarantine goes what one of ``values`` stands in as well: nobody can say of which trace that is.
        ``bodies``: what is left of entries that are not yet released, None for nothing; those traces are the caller's to
        take out. What is deleted is overwritten on disk. A closed trace stays known as closed until it expires, so that
        its late spans start nothing.
        """
        chosen = tuple(trace_ids)
        await self._change(Forget(chosen, dict(bodies or {})))
        return await self._in_thread(self._quarantine.forget, chosen, values)

    async def forget_quarantined(self, before_ns: int) -> int:
        """Delete what was put into quarantine before that time (Unix epoch); how many requests it were."""
        return await self._in_thread(self._quarantine.forget_before, before_ns)

    async def quarantine(self, seq: int, reason: str, *, release: bool = True) -> Path | None:
        """Move an entry out of the way, into a file; None where there is no such entry. Counted.

        Without ``release`` the entry stays for other readers, and is the caller's to release. Raises
        :class:`JournalUnwritable` where the file cannot be written; the entry then stays.
        """
        entry = await self._read(queries.entry, seq)
        if entry is None:
            return None
        try:
            path = await self._in_thread(self._quarantine.put, entry, reason)
        except OSError as error:
            raise JournalUnwritable(f"cannot write to quarantine: {error.strerror}") from error
        if release:
            await self.release([seq])
        self._recorder.record("otel_eval.requests.quarantined", 1)
        return path

    async def close(self) -> None:
        """End every reader, and let go. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        await self._end()
        self._arrival.set()
        await asyncio.to_thread(self._threads.shutdown)
        self._reading.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @abstractmethod
    async def _change(self, change: Change) -> int:
        """What the change gave, once it is durable; changes are made in the order of the calls."""

    @abstractmethod
    async def _end(self) -> None:
        """Called once, when closing: nothing can be asked for any more."""

    def _arrived(self, last: int) -> None:
        """Entries up to that one are in the journal."""
        if last > self._last:
            self._last = last
            self._arrival.set()
            self._arrival = asyncio.Event()

    async def _read(
        self, query: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._closed:
            raise JournalClosed("the journal is closed")

        def run() -> T:
            with storage_errors():
                return query(self._reading, *args, **kwargs)

        return await self._in_thread(run)

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *args, **kwargs))
