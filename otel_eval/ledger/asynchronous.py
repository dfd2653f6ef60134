"""The pipeline's way into the ledger: one writer thread (:mod:`otel_eval.ledger.writer`), reads in worker threads.

SQLite in WAL mode lets readers run beside the writer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from otel_eval.interaction import Interaction
from otel_eval.ledger.expire import expire
from otel_eval.ledger.grouping import Bill, Exported
from otel_eval.ledger.ledger import Ledger
from otel_eval.ledger.model import (
    Backlog,
    Batch,
    Deleted,
    Expired,
    OutboxEntry,
    Spending,
    Standing,
    Stored,
    StoredInteraction,
    WaitingEvaluation,
)
from otel_eval.ledger.queues import discard, postpone
from otel_eval.ledger.rows import prepare
from otel_eval.ledger.writer import Writer
from otel_eval.record import EvaluationRecord


class AsyncLedger:
    """Awaitable twin of :class:`Ledger`. When a write returns, its transaction is on disk.

    Cancelling a write does not undo it: it may or may not be stored, and doing it again is harmless. Use it as an async
    context manager, or call :meth:`close`.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.changes = 0
        """Grows whenever what is stored of an Interaction was deleted, replaced by a revision, or given another id
        from here."""
        self._writer = Writer(ledger)

    @classmethod
    async def open(cls, url: str, *, outbox: bool = True) -> AsyncLedger:
        """Open as :meth:`Ledger.open` does, off the event loop."""
        return cls(await asyncio.to_thread(Ledger.open, url, outbox=outbox))

    async def close(self) -> None:
        """Finish the writes that were handed in, then let go of the database. May be called twice."""
        await self._writer.close()
        await asyncio.to_thread(self.ledger.close)

    async def __aenter__(self) -> AsyncLedger:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def listening(self, listener: Callable[[tuple[Stored, ...]], None]) -> contextlib.AbstractContextManager[None]:
        """Call ``listener`` on the event loop after each transaction that stored records, with what it stored.

        It is called before the write returns, also where nobody waits for it any more; it must not block or raise.
        """
        return self._writer.listening(listener)

    # Writing

    async def commit(self, batch: Batch) -> tuple[Stored, ...]:
        """See :meth:`Ledger.commit`."""
        stored: tuple[Stored, ...] = await self._writer.put(prepare(batch))
        if batch.aliases or any(each.revision > 1 for each in batch.interactions):
            self.changes += 1
        return stored

    async def finish(self, records: Sequence[EvaluationRecord], *, of_known: bool = False) -> tuple[Stored, ...]:
        """See :meth:`Ledger.finish`."""
        return await self.commit(Batch(records=tuple(records), of_known=of_known))

    async def postpone(self, evaluation_ids: Iterable[str], not_before_ns: int) -> None:
        """See :meth:`Ledger.postpone`."""
        ids = tuple(evaluation_ids)
        await self._writer.put(lambda connection: postpone(connection, ids, not_before_ns))

    async def discard_waiting(self, evaluation_ids: Iterable[str]) -> None:
        """See :meth:`Ledger.discard_waiting`."""
        ids = tuple(evaluation_ids)
        await self._writer.put(lambda connection: discard(connection, ids))

    async def mark_exported(self, sequences: Iterable[int]) -> None:
        """See :meth:`Ledger.mark_exported`."""
        await self._writer.put(Exported(tuple(sequences)))

    async def add(self, model: str, day: str, usd: float, tokens: int) -> None:
        """See :meth:`Ledger.add`."""
        await self.hand_in(model, day, usd, tokens)

    def hand_in(self, model: str, day: str, usd: float, tokens: int) -> asyncio.Future[None]:
        """:meth:`add` that need not be waited for: what is written after it is not stored before it."""
        return self._writer.put(Bill(model, day, usd, tokens))

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
        step: Expired = await self._writer.put(
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

    async def standings(self, interaction_ids: Collection[str]) -> dict[str, Standing]:
        """See :meth:`Ledger.standings`."""
        return await asyncio.to_thread(self.ledger.standings, interaction_ids)

    async def evaluations(self, interaction_id: str) -> tuple[EvaluationRecord, ...]:
        """See :meth:`Ledger.evaluations`."""
        return await asyncio.to_thread(self.ledger.evaluations, interaction_id)

    async def next_revisions(self, digests: Mapping[str, str]) -> dict[str, tuple[int, bool]]:
        """See :meth:`Ledger.next_revisions`."""
        return await asyncio.to_thread(self.ledger.next_revisions, digests)

    async def aliases_of(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """See :meth:`Ledger.aliases_of`."""
        return await asyncio.to_thread(self.ledger.aliases_of, ids)

    async def told_of(self, trace_ids: Iterable[str]) -> dict[str, dict[str, str]]:
        """See :meth:`Ledger.told_of`."""
        return await asyncio.to_thread(self.ledger.told_of, trace_ids)

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
