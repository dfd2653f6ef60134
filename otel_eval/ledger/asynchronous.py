"""The pipeline's way into the ledger: one writer thread, one transaction for all the writes that came meanwhile.

A commit to disk costs the same for one row as for a thousand, so writes that arrive while one is under way share the
next (group commit). Records of evaluations that end one by one wait for one another a moment (``PACE_S``). Reads go to
worker threads; SQLite in WAL mode lets them run beside the writer.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection

from otel_eval.interaction import Interaction
from otel_eval.ledger.errors import LedgerError, LedgerUnavailable
from otel_eval.ledger.expire import expire
from otel_eval.ledger.grouping import Bill, Exported, Write, steps
from otel_eval.ledger.ledger import Ledger
from otel_eval.ledger.model import (
    Backlog,
    Batch,
    Change,
    Deleted,
    Expired,
    OutboxEntry,
    Spending,
    Stored,
    StoredInteraction,
    WaitingEvaluation,
)
from otel_eval.ledger.queues import discard, postpone
from otel_eval.ledger.rows import Prepared, prepare
from otel_eval.record import EvaluationRecord

T = TypeVar("T")
MAX_GROUP = 256
PACE_S = 0.08
"""Seconds from one transaction that only ends evaluations to the next. One that ends alone does not wait; where many end,
a transaction for each costs more than all the rest of storing it. It is little beside what a model takes to answer."""


class AsyncLedger:
    """Awaitable twin of :class:`Ledger`. When a write returns, its transaction is on disk.

    Cancelling a write does not undo it: it may or may not be stored, and doing it again is harmless. Use it as an async
    context manager, or call :meth:`close`.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.changes = 0
        """Grows whenever what is stored of an Interaction was deleted, replaced by a revision, or given another id from here."""
        self._writes: queue.SimpleQueue[Write | None] = queue.SimpleQueue()
        self._listeners: list[Callable[[tuple[Stored, ...]], None]] = []
        self._closed = False
        self._arrived = threading.Event()
        self._ended_at = float("-inf")
        self._thread = threading.Thread(target=self._run, name="otel-eval-ledger", daemon=True)
        self._thread.start()

    @classmethod
    async def open(cls, url: str, *, outbox: bool = True) -> AsyncLedger:
        """Open as :meth:`Ledger.open` does, off the event loop."""
        return cls(await asyncio.to_thread(Ledger.open, url, outbox=outbox))

    async def close(self) -> None:
        """Finish the writes that were handed in, then let go of the database. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._writes.put(None)
        self._arrived.set()
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self.ledger.close)

    async def __aenter__(self) -> AsyncLedger:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    @contextlib.contextmanager
    def listening(self, listener: Callable[[tuple[Stored, ...]], None]) -> Iterator[None]:
        """Call ``listener`` on the event loop after each transaction that stored records, with what it stored.

        It is called before the write returns, also where nobody waits for it any more; it must not block or raise.
        """
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    # Writing

    async def commit(self, batch: Batch) -> tuple[Stored, ...]:
        """See :meth:`Ledger.commit`."""
        stored: tuple[Stored, ...] = await self._write(prepare(batch))
        if batch.aliases or any(each.revision > 1 for each in batch.interactions):
            self.changes += 1
        return stored

    async def finish(self, records: Sequence[EvaluationRecord], *, of_known: bool = False) -> tuple[Stored, ...]:
        """See :meth:`Ledger.finish`."""
        return await self.commit(Batch(records=tuple(records), of_known=of_known))

    async def postpone(self, evaluation_ids: Iterable[str], not_before_ns: int) -> None:
        """See :meth:`Ledger.postpone`."""
        ids = tuple(evaluation_ids)
        await self._write(lambda connection: postpone(connection, ids, not_before_ns))

    async def discard_waiting(self, evaluation_ids: Iterable[str]) -> None:
        """See :meth:`Ledger.discard_waiting`."""
        ids = tuple(evaluation_ids)
        await self._write(lambda connection: discard(connection, ids))

    async def mark_exported(self, sequences: Iterable[int]) -> None:
        """See :meth:`Ledger.mark_exported`."""
        await self._write(Exported(tuple(sequences)))

    async def add(self, model: str, day: str, usd: float, tokens: int) -> None:
        """See :meth:`Ledger.add`."""
        await self.hand_in(model, day, usd, tokens)

    def hand_in(self, model: str, day: str, usd: float, tokens: int) -> asyncio.Future[None]:
        """:meth:`add` that need not be waited for: what is written after it is not stored before it."""
        return self._put(Bill(model, day, usd, tokens))

    async def delete(
        self,
        *,
        interaction: str | None = None,
        session: str | None = None,
        user: str | None = None,
        before_ns: int | None = None,
    ) -> Deleted:
        """See :meth:`Ledger.delete`."""
        try:
            return await asyncio.to_thread(
                self.ledger.delete, interaction=interaction, session=session, user=user, before_ns=before_ns
            )
        finally:
            self.changes += 1

    async def expire(self, before_ns: int, *, after: tuple[int, str] | None = None) -> Expired:
        """See :meth:`Ledger.expire`; between other writes, in the writer's thread."""
        exporting = self.ledger.outbox
        step: Expired = await self._write(
            lambda connection: expire(connection, before_ns, after=after, exporting=exporting)
        )
        if step.deleted.interactions:
            self.changes += 1
        return step

    async def vacate(self) -> None:
        """See :meth:`Ledger.vacate`."""
        await asyncio.to_thread(self.ledger.vacate)

    # Reading

    async def interaction(self, interaction_id: str) -> Interaction:
        """See :meth:`Ledger.interaction`."""
        return await asyncio.to_thread(self.ledger.interaction, interaction_id)

    async def stored_interaction(self, interaction_id: str) -> StoredInteraction:
        """See :meth:`Ledger.stored_interaction`."""
        return await asyncio.to_thread(self.ledger.stored_interaction, interaction_id)

    async def evaluations(self, interaction_id: str) -> tuple[EvaluationRecord, ...]:
        """See :meth:`Ledger.evaluations`."""
        return await asyncio.to_thread(self.ledger.evaluations, interaction_id)

    async def next_revision(self, interaction_id: str, digest: str) -> tuple[int, bool]:
        """See :meth:`Ledger.next_revision`."""
        return await asyncio.to_thread(self.ledger.next_revision, interaction_id, digest)

    async def next_revisions(self, digests: Mapping[str, str]) -> dict[str, tuple[int, bool]]:
        """See :meth:`Ledger.next_revisions`."""
        return await asyncio.to_thread(self.ledger.next_revisions, digests)

    async def known_traces(self, trace_ids: Iterable[str]) -> set[str]:
        """See :meth:`Ledger.known_traces`."""
        return await asyncio.to_thread(self.ledger.known_traces, trace_ids)

    async def waiting(
        self,
        limit: int = 1000,
        *,
        after: tuple[int, str] | None = None,
        due_ns: int | None = None,
        evaluators: Collection[str] | None = None,
        interaction_id: str | None = None,
    ) -> tuple[WaitingEvaluation, ...]:
        """See :meth:`Ledger.waiting`."""
        return await asyncio.to_thread(
            self.ledger.waiting,
            limit,
            after=after,
            due_ns=due_ns,
            evaluators=evaluators,
            interaction_id=interaction_id,
        )

    async def backlog(self) -> Backlog:
        """See :meth:`Ledger.backlog`."""
        return await asyncio.to_thread(self.ledger.backlog)

    async def unexported(self, limit: int = 500) -> tuple[OutboxEntry, ...]:
        """See :meth:`Ledger.unexported`."""
        return await asyncio.to_thread(self.ledger.unexported, limit)

    async def outbox_size(self) -> int:
        """See :meth:`Ledger.outbox_size`."""
        return await asyncio.to_thread(self.ledger.outbox_size)

    async def spent(self, model: str, day: str) -> Spending:
        """See :meth:`Ledger.spent`."""
        return await asyncio.to_thread(self.ledger.spent, model, day)

    # The writer

    async def _write(self, what: Prepared | Callable[[Connection], Any]) -> Any:
        return await self._put(what)

    def _put(self, what: Prepared | Bill | Callable[[Connection], Any]) -> asyncio.Future[Any]:
        if self._closed:
            raise LedgerError("the ledger is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._writes.put(Write(what, future, loop))
        if not isinstance(what, Bill):
            self._arrived.set()
        return future

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
            self._arrived.wait(left)
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
        planned = steps(group, outbox=self.ledger.outbox)
        try:
            results = self.ledger.write_all([step.change for step in planned])
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
