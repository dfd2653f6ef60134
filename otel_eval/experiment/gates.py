"""Conditions over the attempts of a batch that decide whether it passes. Gates are combined by ``&``.

Without evidence no gate passes: an empty batch, or a rate over nothing, is *not passed* and says so. Such a gate is not
``decided``, which the command line tells apart by its exit status.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_eval.evaluators.contract import Evaluator
from otel_eval.experiment.errors import InvalidExperiment
from otel_eval.experiment.gate_words import (
    dependence,
    known_evaluators,
    not_counted,
    readable,
    results_still_needed,
    spread,
    with_confidence,
)
from otel_eval.experiment.results import (
    SETUP,
    TARGET,
    Attempt,
    Status,
    Tally,
    cases_of,
    meant,
    open_for,
    tally,
    tally_attempts,
)
from otel_eval.experiment.wilson import lower_bound
from otel_eval.faults import told
from otel_eval.wording import number_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What a gate decided, and why. ``decided`` is False where there was too little evidence to decide anything.

    ``parts`` are the results of the gates that a combined gate is made of.
    """

    gate: str
    passed: bool
    detail: str
    decided: bool = True
    warnings: tuple[str, ...] = ()
    parts: tuple[GateResult, ...] = ()


class Gate(abc.ABC):
    """A condition over attempts. One's own is a subclass with :meth:`decide`; ``a & b`` passes where both do."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """What it requires, as in the report."""

    @abc.abstractmethod
    def decide(self, attempts: Sequence[Attempt]) -> GateResult:
        """The decision. Never raises for an empty batch: that is not passed."""

    def __and__(self, other: Gate) -> Gate:
        if not isinstance(other, Gate):
            return NotImplemented
        return _Both((*_parts(self), *_parts(other)))


def decided(gate: Gate, attempts: Sequence[Attempt]) -> GateResult:
    """What the gate decides. One that breaks has not passed, and says so: the attempts are paid for, and are kept."""
    try:
        result = gate.decide(attempts)
        if isinstance(result, GateResult):
            return result
        broke = f"it returned {type(result).__name__}, not a GateResult"
    except Exception as error:  # noqa: BLE001 - a gate of the user's own
        broke = told(error)
    return GateResult(gate=type(gate).__name__, passed=False, detail=f"the gate broke: {broke}", decided=False)


def all_cases_should_pass() -> Gate:
    """Every attempt of every case passed. The default."""
    return _AllCases()


def pass_rate_should_be_at_least(
    rate: float,
    *,
    of: str | type | None = None,
    min_conclusive: int = 1,
    min_coverage: float = 0.0,
    confidence: float | None = None,
) -> Gate:
    """At least this share of the attempts passed; or, with ``of``, of the conclusive results of one evaluator.

    ``of`` is an evaluator's id, where none is called so a check, or a class. Fewer than ``min_conclusive`` passed or failed results (or attempts), or
    less than ``min_coverage`` of what was to be judged (what waits and what was sampled out included): not passed. Nor where
    attempts that are not judged to their end could bring the rate of all of them below. With ``confidence`` (0.95) the
    one-sided Wilson lower bound of the rate has to reach ``rate``, not the rate itself. Raises InvalidExperiment for a
    number outside its range, and for an ``of`` that could name no evaluator.
    """
    _check_share("rate", rate)
    _check_share("min_coverage", min_coverage)
    if isinstance(min_conclusive, bool) or not isinstance(min_conclusive, int) or min_conclusive < 1:
        raise InvalidExperiment(f"min_conclusive is a whole number from 1, not {min_conclusive!r}")
    if confidence is not None and (not _is_number(confidence) or not 0.5 <= confidence < 1):
        raise InvalidExperiment(f"confidence is from 0.5 to below 1, not {confidence!r}")
    _check_of(of)
    if of is None:
        return _AttemptRate(rate, min_conclusive, min_coverage, confidence)
    return _ResultRate(rate, of, min_conclusive, min_coverage, confidence)


def target_should_not_fail() -> Gate:
    """No agent raised, and every case could be prepared."""
    return _Target()


@dataclass(frozen=True, slots=True)
class _AllCases(Gate):
    @property
    def name(self) -> str:
        return "all cases should pass"

    def decide(self, attempts: Sequence[Attempt]) -> GateResult:
        cases = cases_of(attempts)
        if not cases:
            return _undecided(self, "no case ran")
        passed = sum(case.status is Status.PASSED for case in cases)
        others = [f"{case.case_id} {case.status}" for case in cases if case.status is not Status.PASSED]
        detail = f"{passed} of {number_of(len(cases), 'case')} passed, required all"
        if others:
            detail += f"; not passed: {', '.join(others[:5])}{', …' if len(others) > 5 else ''}"
        return GateResult(
            gate=self.name,
            passed=not others,
            detail=detail,
            decided=any(case.status not in (Status.INCONCLUSIVE, Status.ERROR) for case in cases),
        )


@dataclass(frozen=True, slots=True)
class _AttemptRate(Gate):
    rate: float
    min_conclusive: int
    min_coverage: float
    confidence: float | None

    @property
    def name(self) -> str:
        return f"pass rate should be at least {self.rate:g}{with_confidence(self.confidence)}"

    def decide(self, attempts: Sequence[Attempt]) -> GateResult:
        if not attempts:
            return _undecided(self, "no attempt was made, so the pass rate cannot be read")
        counted = tally_attempts(attempts)
        aside = not_counted(Tally(waiting=counted.waiting, sampled_out=counted.sampled_out, not_run=counted.not_run))
        ended = [attempt for attempt in attempts if open_for(attempt) is None]
        if not ended:
            return _undecided(self, f"nothing was judged to its end, so the pass rate cannot be read{aside}")
        over = f"{number_of(len(ended), 'attempt')} ({spread(ended)})"
        rated = _rated(self, "pass rate", counted.passed, len(ended), over, self.rate, self.confidence, ended)
        if counted.conclusive < self.min_conclusive:
            had = number_of(counted.conclusive, "conclusive attempt")
            return _undecided(self, f"{rated.detail}; {had}, required {self.min_conclusive}{aside}")
        if (coverage := counted.coverage or 0.0) < self.min_coverage:
            shown, of = readable(coverage, self.min_coverage), "all" if aside else "them"
            return _undecided(
                self, f"{rated.detail}; {shown} of {of} conclusive, required {self.min_coverage:g}{aside}"
            )
        if rated.passed and counted.waiting:
            with_waiting = len(ended) + counted.waiting
            least = _rated(self, "pass rate", counted.passed, with_waiting, over, self.rate, self.confidence, ended)
            if not least.passed:
                return _undecided(self, f"{rated.detail}, which may come to less by what waits{aside}")
        return replace(rated, detail=rated.detail + aside)


@dataclass(frozen=True, slots=True)
class _ResultRate(Gate):
    rate: float
    of: str | type
    min_conclusive: int
    min_coverage: float
    confidence: float | None

    @property
    def label(self) -> str:
        """What ``of`` is called in details: its id or check."""
        return self.of if isinstance(self.of, str) else str(getattr(self.of, "check", self.of.__name__))

    @property
    def name(self) -> str:
        return f"pass rate of {self.label} should be at least {self.rate:g}{with_confidence(self.confidence)}"

    def decide(self, attempts: Sequence[Attempt]) -> GateResult:
        is_meant = meant(attempts, self.of)
        counted = tally(attempts, self.of, is_meant=is_meant)
        aside = not_counted(counted)
        if not counted.conclusive:
            known = known_evaluators(attempts, self.of)
            return _undecided(self, f"{self.label} judged no case, so its rate cannot be read{aside}{known}")
        if counted.conclusive < self.min_conclusive:
            had = number_of(counted.conclusive, "conclusive result")
            return _undecided(self, f"{self.label} has {had}, required {self.min_conclusive}{aside}")
        if (coverage := counted.coverage or 0.0) < self.min_coverage:
            shown = readable(coverage, self.min_coverage)
            return _undecided(self, f"{self.label} covers {shown}, required {self.min_coverage:g}{aside}")
        judged = [attempt for attempt in attempts if tally([attempt], self.of, is_meant=is_meant).conclusive]
        over = f"{number_of(counted.conclusive, 'result')} ({spread(judged)})"
        what = f"pass rate of {self.label}"
        result = _rated(self, what, counted.passed, counted.conclusive, over, self.rate, self.confidence, judged)
        return replace(result, detail=result.detail + aside)


@dataclass(frozen=True, slots=True)
class _Target(Gate):
    @property
    def name(self) -> str:
        return "target should not fail"

    def decide(self, attempts: Sequence[Attempt]) -> GateResult:
        if not attempts:
            return _undecided(self, "no attempt was made")
        checks = [result.check for attempt in attempts for result in attempt.results]
        failed, unprepared = checks.count(TARGET), checks.count(SETUP)
        detail = f"the agent failed in {failed} of {number_of(len(attempts), 'attempt')}"
        if unprepared:
            detail += f", {unprepared} could not be prepared"
        return GateResult(gate=self.name, passed=not failed and not unprepared, detail=detail)


@dataclass(frozen=True, slots=True)
class _Both(Gate):
    gates: tuple[Gate, ...]

    @property
    def name(self) -> str:
        return " & ".join(gate.name for gate in self.gates)

    def decide(self, attempts: Sequence[Attempt]) -> GateResult:
        parts = tuple(gate.decide(attempts) for gate in self.gates)
        open_parts = [part for part in parts if not part.passed]
        return GateResult(
            gate=self.name,
            passed=not open_parts,
            detail="; ".join(part.detail for part in (open_parts or parts)),
            decided=not open_parts or any(part.decided for part in open_parts),
            warnings=tuple(dict.fromkeys(warning for part in parts for warning in part.warnings)),
            parts=parts,
        )


def _parts(gate: Gate) -> tuple[Gate, ...]:
    return gate.gates if isinstance(gate, _Both) else (gate,)


def _rated(
    gate: Gate,
    what: str,
    passed: int,
    total: int,
    over: str,
    required: float,
    confidence: float | None,
    attempts: Sequence[Attempt],
) -> GateResult:
    rate = passed / total
    if confidence is None:
        detail = f"{what} {readable(rate, required)} over {over}, required {required:g}"
        return GateResult(gate=gate.name, passed=rate >= required, detail=detail)
    bound = lower_bound(passed, total, confidence)
    detail = (
        f"{what} {rate:.2f} over {over}, at least {readable(bound, required)} with confidence {confidence:g}, "
        f"required {required:g}"
    )
    if bound < required:
        detail += f": {results_still_needed(rate, required, confidence)}"
    return GateResult(gate=gate.name, passed=bound >= required, detail=detail, warnings=dependence(attempts))


def _undecided(gate: Gate, detail: str) -> GateResult:
    return GateResult(gate=gate.name, passed=False, detail=detail, decided=False)


def _check_of(of: object) -> None:
    if isinstance(of, Evaluator):
        raise InvalidExperiment(f"of is an evaluator's id, its check or its class: of={of.id!r}, not the evaluator")
    named = isinstance(of, str) and of.strip()
    if of is not None and not named and not (isinstance(of, type) and issubclass(of, Evaluator)):
        raise InvalidExperiment(f"of is an evaluator's id, its check or its class, not {of!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_share(name: str, value: float) -> None:
    if not _is_number(value) or not 0 <= value <= 1:
        raise InvalidExperiment(f"{name} is a number from 0 to 1, not {value!r} (90 % is 0.9)")
