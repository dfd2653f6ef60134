"""Running the attempts of an experiment, each in a fresh session and trace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_eval.evaluators.at_hand import AtHand
from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.evaluators.contract import run as evaluate
from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.current import CurrentAttempt, entered, new_attempt
from otel_eval.experiment.errors import InvalidExperiment
from otel_eval.experiment.judging import Isolation
from otel_eval.experiment.observe import as_judged, differing, observe
from otel_eval.experiment.plan import Configured
from otel_eval.experiment.preparing import prepared
from otel_eval.experiment.progress import Progress, reporting
from otel_eval.experiment.results import SETUP, TARGET, TELEMETRY, Attempt, EvaluatorRef, Result
from otel_eval.experiment.target import Answered, ask
from otel_eval.experiment.telemetry import Source
from otel_eval.faults import told
from otel_eval.identity import evaluation_id
from otel_eval.interaction import Interaction
from otel_eval.outcome import Cause, Errored, Failed, Inconclusive, Outcome
from otel_eval.record import Origin

if TYPE_CHECKING:
    from otel_eval.experiment.experiment import Experiment


@dataclass(frozen=True, slots=True)
class _Job:
    case: EvalCase
    run: int


class Run:
    """One run of an experiment."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._jobs = [
            _Job(case, run) for case in experiment.cases for run in range(1, experiment.repeat + 1)
        ]  # fmt: skip
        self._configured = Configured.of(experiment.config)
        self._isolation = Isolation(experiment.evaluator_timeout)
        self._done: dict[int, Attempt] = {}

    async def attempts(self) -> tuple[Attempt, ...]:
        """All attempts, in the order of cases and runs, whatever order they ended in."""
        for job in self._jobs:
            self._evaluators(job.case)
        experiment = self._experiment
        exclusive = experiment.concurrency == 1
        try:
            with reporting(experiment.progress, len(self._jobs)) as report:
                async with experiment.telemetry.open(exclusive=exclusive) as source:
                    await self._work_off(source, report)
        finally:
            await self._configured.aclose()
        return tuple(self._done[index] for index in sorted(self._done))

    async def _work_off(self, source: Source, report: Progress) -> None:
        """Where one worker breaks (it is not the agent's or an evaluator's fault then), the others are cancelled."""
        waiting = iter(enumerate(self._jobs))
        number = min(self._experiment.concurrency, len(self._jobs))
        workers = [asyncio.create_task(self._work(source, waiting, report)) for _ in range(number)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, source: Source, waiting: Iterator[tuple[int, _Job]], report: Progress) -> None:
        for index, job in waiting:
            self._done[index] = await self._attempt(source, job)
            report(self._done[index], len(self._done), len(self._jobs))

    async def _attempt(self, source: Source, job: _Job) -> Attempt:
        attempt = new_attempt(job.case.id, job.run, source.endpoints)
        started_ns = time.time_ns()
        unprepared = await prepared(self._experiment.prepare, job.case, self._experiment.timeout)
        if unprepared is not None:
            return self._ended(job, attempt, started_ns, results=(_own(SETUP, unprepared),))
        watching = source.begin(attempt, time.time_ns())
        try:
            answered = await self._ask(source, attempt, job.case)
            ended_ns = time.time_ns()
            await source.settle(watching, failed=answered.failure is not None)
        finally:
            evidence = source.release(watching)
        seen = observe(evidence, self._configured.role_attributes)
        judged = None
        if seen.interaction is not None:
            judged = as_judged(seen.interaction, job.case.command, answered.reply, attempt.session_id)
            judged = self._configured.with_role(judged)
        evaluators, clash = self._bound_evaluators(job.case, judged)
        stopped = _stopped(answered, judged, lambda: seen.missing or source.no_telemetry(attempt, evidence))
        results: tuple[Result, ...] = ()
        notes = seen.notes
        if stopped is not None:
            results = (stopped,)
        elif clash is not None:
            results = (clash,)
        elif judged is not None:
            at_hand = AtHand((*seen.seen, judged))
            results = tuple(
                await asyncio.gather(*(self._evaluate(each, judged, job.case, at_hand) for each in evaluators))
            )
            if not evaluators:
                notes = (*notes, self._configured.nothing_for(judged))
        traced = None if seen.interaction is None else seen.interaction.reply
        return self._ended(
            job, attempt, started_ns, ended_ns=ended_ns, results=results, interaction=judged, evaluators=evaluators,
            reply=answered.reply, traced_reply=differing(traced, answered.reply), notes=notes,
        )  # fmt: skip

    async def _ask(self, source: Source, attempt: CurrentAttempt, case: EvalCase) -> Answered:
        experiment = self._experiment
        with entered(attempt), source.inside(attempt):
            return await ask(experiment.agent, case.command, experiment.reply, experiment.timeout)

    async def _evaluate(
        self, evaluator: Evaluator, interaction: Interaction, case: EvalCase, at_hand: AtHand
    ) -> Result:
        started_ns = time.time_ns()
        context = EvaluationContext(
            evaluation_id=evaluation_id(
                interaction_id=interaction.id, evaluator=evaluator.id, evaluator_version=evaluator.version
            ),
            evaluator_id=evaluator.id,
            case_id=case.id,
            expected=case.expected,
            metadata=case.metadata,
            origin=Origin.OFFLINE,
            judges=self._configured.asked,
            timeout=self._experiment.evaluator_timeout,
            ledger=at_hand,
        )
        outcome = await evaluate(self._isolation.of(evaluator), interaction, context)
        return Result(
            evaluator=_ref(evaluator),
            outcome=outcome,
            judge_calls=tuple(context.judge_calls),
            started_ns=started_ns,
            ended_ns=time.time_ns(),
        )

    def _bound_evaluators(
        self, case: EvalCase, interaction: Interaction | None
    ) -> tuple[tuple[Evaluator, ...], Result | None]:
        """With the configuration's for this agent, known only now: a clash with those is this attempt's trouble alone."""
        try:
            return self._evaluators(case, interaction), None
        except InvalidExperiment as error:
            return self._evaluators(case), _own(SETUP, Errored(reason=str(error), error_type="InvalidExperiment"))

    def _evaluators(self, case: EvalCase, interaction: Interaction | None = None) -> tuple[Evaluator, ...]:
        """Those of the experiment, the case's, the configuration's for this agent; the same one said twice runs once."""
        bound = () if interaction is None else self._configured.bound_to(interaction)
        chosen: dict[str, Evaluator] = {}
        for evaluator in (*self._experiment.evaluators, *case.evaluators, *bound):
            before = chosen.setdefault(evaluator.id, evaluator)
            if before.version != evaluator.version:
                raise InvalidExperiment(
                    f"case {case.id}: two different evaluators have the id {evaluator.id!r}: give one another, with_id('…')"
                )
        return tuple(chosen.values())

    def _ended(
        self,
        job: _Job,
        attempt: CurrentAttempt,
        started_ns: int,
        *,
        evaluators: tuple[Evaluator, ...] | None = None,
        ended_ns: int | None = None,
        **found: Any,
    ) -> Attempt:
        planned = self._evaluators(job.case) if evaluators is None else evaluators
        return Attempt(
            case_id=job.case.id,
            run=job.run,
            command=job.case.command,
            session=attempt.session_id,
            trace_id=attempt.trace_id,
            planned=tuple(_ref(evaluator) for evaluator in planned),
            started_ns=started_ns,
            ended_ns=time.time_ns() if ended_ns is None else ended_ns,
            **found,
        )


def _stopped(answered: Answered, judged: Interaction | None, no_telemetry: Callable[[], str]) -> Result | None:
    """The experiment's own result where there is nothing for evaluators to judge: the agent failed, or left no trace."""
    if answered.failure is not None:
        return _own(TARGET, Failed(explanation=told(answered.failure)))
    if answered.unreadable is not None:
        return _own(SETUP, Errored(reason=answered.unreadable, error_type="unreadable_reply"))
    if judged is None:
        return _own(TELEMETRY, Inconclusive(reason=no_telemetry(), cause=Cause.NO_TELEMETRY))
    return None


def _ref(evaluator: Evaluator) -> EvaluatorRef:
    return EvaluatorRef(id=evaluator.id, check=evaluator.check, version=evaluator.version, kind=type(evaluator))


def _own(check: str, outcome: Outcome) -> Result:
    return Result(evaluator=EvaluatorRef(id=check, check=check), outcome=outcome)
