"""``storage.retention``: what is older goes from ledger and quarantine while the server runs.

In small transactions with a pause between them, so that what is to be stored does not wait for what is to go. The journal
needs none of it: it keeps what is not yet put together, and closed traces for ``completion.late_window``.
"""

from __future__ import annotations

import logging
from typing import Protocol

from otel_eval.clock import Clock
from otel_eval.instruments import Recorder
from otel_eval.journal import JournalError
from otel_eval.ledger import AsyncLedger, LedgerError
from otel_eval.wording import moment

log = logging.getLogger("otel_eval.server")

PAUSE_S = 0.1
"""Between two transactions: some 1,000 Interactions a second go, beside what is stored meanwhile."""
_SHARE = 100
_MOST_OFTEN_S, _LEAST_OFTEN_S = 60.0, 3600.0


class Quarantining(Protocol):
    """The part of the journal that is needed here."""

    async def forget_quarantined(self, before_ns: int) -> int:
        """Delete what was put into quarantine before that time (Unix epoch); how many requests it were."""
        ...


class Retention:
    """Deletes what ended more than so many ``seconds`` ago, unless it is not judged or not exported yet."""

    def __init__(
        self, seconds: float, *, ledger: AsyncLedger, journal: Quarantining, clock: Clock, recorder: Recorder
    ) -> None:
        self._seconds = seconds
        self._ledger = ledger
        self._journal = journal
        self._clock = clock
        self._recorder = recorder

    async def run(self) -> None:
        """Sweep now and then, for ever: what is kept is at most a hundredth, or a minute, older than is said."""
        every = min(max(self._seconds / _SHARE, _MOST_OFTEN_S), _LEAST_OFTEN_S)
        while True:
            try:
                await self.sweep()
            except (LedgerError, JournalError) as error:
                log.warning("what is older than storage.retention could not be deleted, it is tried again: %s", error)
            await self._clock.sleep_until(self._clock.monotonic() + every)

    async def sweep(self) -> None:
        """Delete all that may go now. Counted and logged, also what went before an error."""
        before_ns = self._clock.now_ns() - int(self._seconds * 1e9)
        interactions = evaluations = quarantined = kept = 0
        after: tuple[int, str] | None = None
        try:
            while True:
                step = await self._ledger.expire(before_ns, after=after)
                interactions += step.deleted.interactions
                evaluations += step.deleted.evaluations
                kept += step.kept
                after = step.after
                if after is None:
                    break
                await self._clock.sleep_until(self._clock.monotonic() + PAUSE_S)
            quarantined = await self._journal.forget_quarantined(before_ns)
        finally:
            self._tell(before_ns, interactions, evaluations, quarantined, kept)
        if interactions or evaluations:
            await self._ledger.vacate()

    def _tell(self, before_ns: int, interactions: int, evaluations: int, quarantined: int, kept: int) -> None:
        gone = {"interaction": interactions, "evaluation": evaluations, "quarantined request": quarantined}
        for item, count in gone.items():
            if count:
                self._recorder.record("otel_eval.retention.deleted", count, {"otel_eval.item": item})
        if any(gone.values()):
            log.info(
                "older than storage.retention (before %s) and deleted: %d Interactions, %d evaluations, %d quarantined "
                "requests; %d Interactions stay until they are judged and exported",
                moment(before_ns),
                interactions,
                evaluations,
                quarantined,
                kept,
            )
