"""Completed Interactions in, evaluation records out: stored in one transaction, judged once, whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from otel_eval.clock import Clock
from otel_eval.config.model import Config
from otel_eval.crashes import Caution
from otel_eval.dispatch.accepting import Accepted, Accepting, Completed, Intake
from otel_eval.dispatch.bindings import Bindings
from otel_eval.dispatch.counting import count_interactions, count_stored
from otel_eval.dispatch.execution import Execution
from otel_eval.dispatch.feedback import STREAK, Feedback
from otel_eval.dispatch.matching import Matching
from otel_eval.dispatch.plan import plan
from otel_eval.dispatch.resuming import rerun_of, resume
from otel_eval.dispatch.workers import Workers
from otel_eval.evaluators.contract import Evaluator
from otel_eval.instruments import Recorder
from otel_eval.judges import Judges
from otel_eval.ledger import AsyncLedger, Batch, LedgerError, WaitingEvaluation
from otel_eval.loop_guard import LoopGuard

log = logging.getLogger("otel_eval.dispatch")

T = TypeVar("T")


class Dispatcher:
    """Decides which evaluators judge an Interaction, and sees to it that each does, exactly once.

    An async context manager: entering resumes what waited at the last stop or crash, leaving stops. ``evaluators`` are the
    built ones by id. ``judges`` is handed to evaluators. ``listener`` is told of each batch once it is stored.
    ``caution`` knows which evaluations took their process with them.
    """

    def __init__(
        self,
        *,
        config: Config,
        evaluators: Mapping[str, Evaluator],
        ledger: AsyncLedger,
        guard: LoopGuard,
        clock: Clock,
        recorder: Recorder,
        judges: Judges | None = None,
        listener: Callable[[Sequence[Accepted]], None] | None = None,
        caution: Caution | None = None,
    ) -> None:
        self._planned, lanes = plan(config, evaluators)
        self._ledger = ledger
        self._clock = clock
        self._recorder = recorder
        self._listener = listener
        self._grace = config.dispatch.shutdown_grace
        self._entering: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._listening = contextlib.ExitStack()
        feedback = Feedback()
        self.bindings = Bindings(config.evaluators, config.roles, evaluators)
        execution = Execution(clock=clock, judges=judges, ledger=ledger.ledger, bindings=self.bindings, caution=caution)
        self._matching = Matching(self.bindings, after=config.dispatch.unmatched_after, clock=clock)
        self._accepting = Accepting(
            bindings=self.bindings,
            planned=self._planned,
            execution=execution,
            feedback=feedback,
            guard=guard,
            ledger=ledger,
            clock=clock,
            judges=judges,
        )
        self._workers = Workers(
            planned=self._planned,
            lanes=lanes,
            limit=config.dispatch.max_concurrency,
            max_wait=config.dispatch.max_wait,
            ledger=ledger,
            execution=execution,
            guard=guard,
            clock=clock,
            recorder=recorder,
            ended=feedback.judged,
        )

    @property
    def evaluators(self) -> tuple[str, ...]:
        """The ids of those that are switched on."""
        return tuple(self._planned)

    async def __aenter__(self) -> Dispatcher:
        await self.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Resume what waits in the ledger. What waits for an evaluator that the configuration lost is let go of."""
        for evaluator in self.bindings.unreachable:
            log.warning("evaluators.%s is bound to no agent and no role: it judges nothing that is received", evaluator)
        self._listening.enter_context(self._ledger.listening(lambda stored: count_stored(self._recorder, stored)))
        await resume(self._ledger, self._planned, self._workers.add)
        self._workers.start()

    async def stop(self) -> None:
        """Let running evaluations end within the grace period; the others wait for the next start."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._workers.stop(self._grace)
        self._listening.close()

    async def accept(
        self, completed: Iterable[Completed], aliases: Mapping[str, str] | None = None
    ) -> tuple[Accepted, ...]:
        """Store the Interactions with all that is known of them at once, and queue what a judge is asked.

        When it returns, the ledger has committed them: exact evaluators' records, and the evaluations that wait. An
        Interaction whose evidence the ledger has already is passed over, so that telemetry may be replayed; the others
        come back as they were stored. ``aliases`` maps ids that were handed out before to those that they mean now.
        Cancelling does not undo it. Raises LedgerUnavailable, and then nothing was stored.
        """
        storing = self._accept(tuple(completed), dict(aliases or {}))
        return await self._to_its_end(storing, _tell_what_nobody_awaits)

    async def rerun(self, interaction_id: str, evaluators: Collection[str] | None = None) -> tuple[str, ...]:
        """Judge a stored Interaction once more (origin rerun, attempt +1), by these evaluators or by all that there are.

        Returns the evaluation ids, once the ledger holds them. Raises KeyError for an Interaction or an evaluator that is
        unknown or switched off.
        """
        waiting = await self.rerun_all([interaction_id], self.evaluators if evaluators is None else evaluators)
        return tuple(each.evaluation_id for each in waiting)

    async def rerun_all(
        self, interaction_ids: Collection[str], evaluators: Collection[str]
    ) -> tuple[WaitingEvaluation, ...]:
        """:meth:`rerun` for many, in one transaction: all are queued, or none. What waits already is not queued twice,
        nor is an Interaction that is named by two of its ids.

        Cancelling does not undo it.
        """
        return await self._to_its_end(self._rerun(tuple(interaction_ids), tuple(evaluators)), _leave_it)

    async def _rerun(self, interaction_ids: Sequence[str], evaluators: Sequence[str]) -> tuple[WaitingEvaluation, ...]:
        chosen = {name: self._planned[name] for name in evaluators}
        found = await self._ledger.standings(interaction_ids)
        once = {found[asked].interaction_id: found[asked] for asked in interaction_ids}  # an alias is asked for as well
        waiting = tuple(
            rerun_of(name, planned, standing, self._clock.now_ns())
            for standing in once.values()
            for name, planned in chosen.items()
        )
        await self._ledger.commit(Batch(waiting=waiting))
        self._workers.add(waiting)
        return waiting

    async def _to_its_end(self, work: Coroutine[Any, Any, T], unheard: Callable[[asyncio.Task[T]], None]) -> T:
        """Its result; it goes on where this is cancelled, and ``unheard`` is called when it has ended."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await asyncio.wait({task})  # which leaves it alone when this is cancelled, and lets us hear of its end
        except asyncio.CancelledError:
            task.add_done_callback(unheard)
            raise
        return task.result()

    async def _accept(self, completed: tuple[Completed, ...], aliases: dict[str, str]) -> tuple[Accepted, ...]:
        ids = {each.interaction.id for each in completed} | aliases.keys()
        await self._enter(ids)
        try:
            intake = await self._accepting.take(completed, aliases)
            batch = intake.batch(aliases)
            if batch.interactions or batch.aliases:
                await self._ledger.commit(batch)
        finally:
            self._leave(ids)
        self._after(intake)
        return tuple(intake.accepted)

    def _after(self, intake: Intake) -> None:
        """What follows once the batch is durable."""
        became = [(interaction, "dropped") for interaction in intake.own]
        became += [(each.interaction, each.disposition) for each in intake.accepted if each.revision == 1]
        count_interactions(self._recorder, became)
        for evaluator, interaction in intake.stops:
            log.error(
                "evaluators.%s judges agent %s no more: its last %d Interactions were calls of our own judge",
                evaluator,
                interaction.agent or "(no name)",
                STREAK,
            )
        for each in intake.accepted:
            if each.revision > 1:
                self._workers.supersede(each.interaction.id, each.revision)
        self._workers.add(waiting for each in intake.accepted for waiting in each.waiting)
        self._matching.saw(intake.accepted)
        if self._listener is not None and intake.accepted:
            self._listener(tuple(intake.accepted))

    async def _enter(self, ids: Collection[str]) -> None:
        """Wait until no other batch is about one of these: two revisions of one Interaction go one after the other."""
        while busy := next((self._entering[name] for name in ids if name in self._entering), None):
            await busy.wait()
        event = asyncio.Event()
        self._entering.update(dict.fromkeys(ids, event))

    def _leave(self, ids: Collection[str]) -> None:
        for name in ids:
            self._entering.pop(name).set()


def _leave_it(asking: asyncio.Task[Any]) -> None:
    """Whoever asked went away: what became of it is in the ledger."""
    if not asking.cancelled():
        asking.exception()


def _tell_what_nobody_awaits(storing: asyncio.Task[Any]) -> None:
    """Whoever asked was cancelled: a ledger that refuses is said in a line, and any other error is a fault of ours."""
    error = None if storing.cancelled() else storing.exception()
    if isinstance(error, LedgerError):
        log.warning("Interactions that were to be stored as the server stopped are not in the ledger: %s", error)
    elif error is not None:
        log.error("Interactions that were to be stored as the server stopped are not in the ledger", exc_info=error)
