"""The ledger as workers need it: they wait until it is there again, since a verdict that was paid for is not thrown away."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence

from otel_eval.clock import Clock
from otel_eval.dispatch.reading import Reader
from otel_eval.interaction import Interaction
from otel_eval.ledger import AsyncLedger, Backlog, LedgerUnavailable, WaitingEvaluation
from otel_eval.patience import Patience
from otel_eval.record import EvaluationRecord

log = logging.getLogger("otel_eval.dispatch")


class PatientLedger:
    """Reads and stores for evaluations that wait. A ledger that is not available costs time; nothing here raises for it."""

    def __init__(self, ledger: AsyncLedger, *, clock: Clock) -> None:
        self._ledger = ledger
        self._reader = Reader(ledger)
        self._patiently = Patience(clock, log, {LedgerUnavailable: "ledger"})

    async def interaction(
        self, waiting: WaitingEvaluation, upcoming: Iterable[WaitingEvaluation] = ()
    ) -> Interaction | None:
        """The Interaction; None where it was deleted, or a newer revision or one of another id is judged in its place.

        Read when its turn comes, or with those whose turn came just before (``upcoming`` are the next), and not kept for
        longer: what was deleted meanwhile is not sent to a judge.
        """
        ahead = tuple(each.interaction_id for each in upcoming)
        try:
            stored = await self._patiently(self._reader.stored_interaction, waiting.interaction_id, ahead)
        except KeyError:
            stored = None
        if stored is None or stored.interaction.id != waiting.interaction_id:
            await self._patiently(self._ledger.discard_waiting, [waiting.evaluation_id])
            return None
        return stored.interaction if stored.revision <= waiting.revision else None

    async def finish(self, records: Sequence[EvaluationRecord]) -> None:
        """Store the records in place of what waited for them."""
        await self._patiently(self._ledger.finish, records, of_known=True)

    async def waiting(self, limit: int, evaluators: Collection[str]) -> tuple[WaitingEvaluation, ...]:
        """The next ones of these evaluators."""
        return await self._patiently(self._ledger.waiting, limit, evaluators=evaluators)

    async def backlog(self) -> Backlog:
        """How much waits, and since when."""
        return await self._patiently(self._ledger.backlog)

    async def close(self) -> None:
        """Return once nothing is being read."""
        await self._reader.close()
