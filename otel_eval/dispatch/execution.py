"""One evaluator on one Interaction: from what waits to its record."""

from __future__ import annotations

import inspect
import logging
from enum import Enum

from otel_eval.clock import Clock
from otel_eval.crashes import Caution, DiedBefore, Kind, owner_of
from otel_eval.dispatch.bindings import Bindings
from otel_eval.dispatch.isolation import Isolated
from otel_eval.evaluators.at_hand import AtHand, ReadableLedger
from otel_eval.evaluators.contract import EvaluationContext, Evaluator, run
from otel_eval.interaction import Interaction
from otel_eval.judges import Judges
from otel_eval.judges.errors import JudgeUnavailable
from otel_eval.ledger import WaitingEvaluation
from otel_eval.outcome import Errored, Outcome
from otel_eval.record import EvaluationRecord, JudgeCall

log = logging.getLogger("otel_eval.dispatch")

PROCESS_DIED = "process_died"
"""The ``error.type`` of an evaluation that takes its process with it."""


class _Code(Enum):
    """What runs in an evaluation, by which it is told what a death says of it (docs/decisions/crashes.md)."""

    CUSTOM = "custom"
    """A user's: it is noted, and an evaluator that kills again and again is not called for a while."""
    EXACT = "exact"
    """Ours: noted, and its other evaluations go on whatever one did."""
    JUDGE = "judge"
    """Ours, made of texts and settings: it waits for a model nearly all the time, so being under way says nothing."""

    @classmethod
    def of(cls, evaluator: Evaluator) -> _Code:
        if isinstance(evaluator, Isolated):  # as the plan has every evaluator that a user's code takes part in
            return cls.CUSTOM
        return cls.JUDGE if evaluator.asks_model else cls.EXACT


class Execution:
    """Runs evaluators. ``judges`` and ``ledger`` are handed to them in their context, with what ``bindings`` say of them.

    What takes the process with it, again and again, has the outcome *error*, as ``caution`` knows.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        judges: Judges | None = None,
        ledger: ReadableLedger | None = None,
        bindings: Bindings | None = None,
        caution: Caution | None = None,
    ) -> None:
        self._clock = clock
        self._judges = judges
        self._ledger = AtHand() if ledger is None else ledger
        self._bindings = bindings
        self._caution = caution or Caution()

    async def inline(
        self, evaluator: Evaluator, interaction: Interaction, waiting: WaitingEvaluation
    ) -> EvaluationRecord:
        """The record of an evaluator that asks nobody."""
        started, outcome = await self._run(evaluator, interaction, self._context(waiting), waiting, _Code.of(evaluator))
        return self.record(evaluator, interaction, waiting, outcome, started_ns=started)

    async def queued(
        self, evaluator: Evaluator, interaction: Interaction, waiting: WaitingEvaluation
    ) -> EvaluationRecord:
        """The record of an evaluator that may ask a judge. Raises JudgeUnavailable where it had better be tried later."""
        binding = None if self._bindings is None else self._bindings.entry(waiting.evaluator, interaction)
        context = self._context(waiting, binding)
        watched = _Watched(evaluator)
        started, outcome = await self._run(watched, interaction, context, waiting, _Code.of(evaluator))
        if watched.unavailable is not None:
            raise watched.unavailable
        return self.record(
            evaluator, interaction, waiting, outcome, started_ns=started, judge_calls=tuple(context.judge_calls)
        )

    def record(
        self,
        evaluator: Evaluator,
        interaction: Interaction,
        waiting: WaitingEvaluation,
        outcome: Outcome,
        *,
        started_ns: int | None = None,
        judge_calls: tuple[JudgeCall, ...] = (),
    ) -> EvaluationRecord:
        """An outcome as the record of what waited."""
        now = self._clock.now_ns()
        return EvaluationRecord.about(
            interaction,
            id=waiting.evaluation_id,
            evaluator=waiting.evaluator,
            evaluator_version=waiting.evaluator_version,
            check=waiting.check,
            outcome=outcome,
            revision=waiting.revision,
            attempt=waiting.attempt,
            origin=waiting.origin,
            threshold=evaluator.threshold,
            judge_calls=judge_calls,
            started_ns=now if started_ns is None else started_ns,
            ended_ns=now,
        )

    async def _run(
        self,
        evaluator: Evaluator,
        interaction: Interaction,
        context: EvaluationContext,
        waiting: WaitingEvaluation,
        code: _Code,
    ) -> tuple[int, Outcome]:
        """When it began, and what came of it."""
        if code is _Code.JUDGE:
            await self._caution.started()
            started = self._clock.now_ns()
            return started, await run(evaluator, interaction, context)
        resting = self._rests(waiting, code)
        if resting is not None:
            return self._clock.now_ns(), Errored(reason=resting, error_type=PROCESS_DIED)
        try:
            owner = owner_of(waiting.evaluator, waiting.evaluator_version)
            async with self._caution.during(Kind.EVALUATION, waiting.evaluation_id, owner):
                started = self._clock.now_ns()
                return started, await run(evaluator, interaction, context)
        except DiedBefore as error:
            if self._caution.convict(waiting.evaluator, waiting.evaluator_version, waiting.evaluation_id):
                log.error(
                    "evaluators.%s on Interaction %s ends as an error: %s", waiting.evaluator, interaction.id, error
                )
                if (resting := self._rests(waiting, code)) is not None:
                    log.error("evaluators.%s is %s", waiting.evaluator, resting)
            return self._clock.now_ns(), Errored(reason=str(error), error_type=PROCESS_DIED)

    def _rests(self, waiting: WaitingEvaluation, code: _Code) -> str | None:
        """Why it is not called, where it is not."""
        if code is not _Code.CUSTOM:
            return None
        return self._caution.at_rest(waiting.evaluator, waiting.evaluator_version)

    def _context(self, waiting: WaitingEvaluation, binding: str | None = None) -> EvaluationContext:
        return EvaluationContext(
            evaluation_id=waiting.evaluation_id,
            evaluator_id=waiting.evaluator,
            binding=binding,
            origin=waiting.origin,
            judges=self._judges,
            ledger=self._ledger,
        )


class _Watched(Evaluator):
    """Passes everything on, and keeps a JudgeUnavailable: that one is no outcome while it is worth waiting."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.check = evaluator.check
        self.unavailable: JudgeUnavailable | None = None

    def default_id(self) -> str:
        return self._evaluator.id

    async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        try:
            outcome = self._evaluator.evaluate(interaction, context)
            return await outcome if inspect.isawaitable(outcome) else outcome
        except JudgeUnavailable as error:
            self.unavailable = error
            raise
