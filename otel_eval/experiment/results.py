"""What an experiment found: results of evaluators, attempts made of them, cases made of attempts.

The truth tables are those of the specification, and the functions below are the only places that know them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored, Failed, Inconclusive, Outcome, Passed, describe
from otel_eval.record import JudgeCall

TARGET = "target"
"""The failed result of an agent that raised."""
SETUP = "setup"
"""The errored result of a case that could not be prepared, or of a reply that could not be read."""
TELEMETRY = "telemetry"
"""The inconclusive result of an attempt without an agent's telemetry."""
OWN_CHECKS = (TARGET, SETUP, TELEMETRY)
"""Results that the experiment itself gives; no evaluator's pass rate counts them."""


class Status(StrEnum):
    """How an attempt, or a case over its attempts, came out. Only a case can be INCONSISTENT."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    INCONSISTENT = "INCONSISTENT"
    ERROR = "ERROR"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorRef:
    """Which evaluator. ``kind`` is its class, None where the report was read from a file or a ledger."""

    id: str
    check: str
    version: str = ""
    kind: type | None = field(default=None, compare=False, repr=False)

    def matches(self, of: str | type) -> bool:
        """Whether ``of`` names it: its id, its check or its class (in a report that was read, the class's check)."""
        if isinstance(of, str):
            return of in (self.id, self.check)
        if self.kind is not None:
            return issubclass(self.kind, of)
        return getattr(of, "check", None) == self.check


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One evaluator's outcome in one attempt; or the experiment's own ``target``, ``setup`` or ``telemetry``."""

    evaluator: EvaluatorRef
    outcome: Outcome
    judge_calls: tuple[JudgeCall, ...] = ()
    started_ns: int = 0
    ended_ns: int = 0

    @property
    def check(self) -> str:
        """The kind of thing that was checked."""
        return self.evaluator.check

    def describe(self) -> str:
        """The result on one line: ``FAIL tools: …``."""
        return describe(self.evaluator.check, self.outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One run of one case, ``run`` counted from 1.

    ``planned`` are the evaluators that were to judge it, whether they came to it or not: coverage is read from it. Of those
    ``waiting`` will, ``sampled_out`` and ``left_alone`` (by its binding: it failed, or is incomplete) will not; over a ledger
    and recordings, since an experiment judges all at once.
    ``interaction`` is None where there is no telemetry; ``reply`` is what the agent function returned, ``traced_reply``
    the trace's last text where that differs. ``notes`` say what a reader should know about where the evidence is from.
    """

    case_id: str
    run: int
    command: str
    session: str = ""
    trace_id: str = ""
    results: tuple[Result, ...] = ()
    planned: tuple[EvaluatorRef, ...] = ()
    waiting: tuple[EvaluatorRef, ...] = ()
    sampled_out: tuple[EvaluatorRef, ...] = ()
    left_alone: tuple[EvaluatorRef, ...] = ()
    interaction: Interaction | None = None
    reply: str | None = None
    traced_reply: str | None = None
    notes: tuple[str, ...] = ()
    started_ns: int = 0
    ended_ns: int = 0

    @property
    def status(self) -> Status:
        """By :func:`attempt_status`."""
        return attempt_status(result.outcome for result in self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSummary:
    """One case over its attempts, in the order of the runs."""

    case_id: str
    attempts: tuple[Attempt, ...]

    @property
    def status(self) -> Status:
        """By :func:`case_status`."""
        return case_status([attempt.status for attempt in self.attempts])

    @property
    def passed(self) -> int:
        """How many attempts passed."""
        return sum(attempt.status is Status.PASSED for attempt in self.attempts)


def attempt_status(outcomes: Iterable[Outcome]) -> Status:
    """Any failed: FAILED; else any error: ERROR; else any inconclusive, or none at all: INCONCLUSIVE; else PASSED."""
    kinds = [type(outcome) for outcome in outcomes]
    if Failed in kinds:
        return Status.FAILED
    if Errored in kinds:
        return Status.ERROR
    if Inconclusive in kinds or not kinds:
        return Status.INCONCLUSIVE
    return Status.PASSED


def case_status(attempts: Sequence[Status]) -> Status:
    """All passed: PASSED; some passed and some failed: INCONSISTENT; failed and none passed: FAILED; else by error."""
    passed, failed = Status.PASSED in attempts, Status.FAILED in attempts
    if passed and failed:
        return Status.INCONSISTENT
    if failed:
        return Status.FAILED
    if passed and all(status is Status.PASSED for status in attempts):
        return Status.PASSED
    return Status.ERROR if Status.ERROR in attempts else Status.INCONCLUSIVE


def cases_of(attempts: Iterable[Attempt]) -> tuple[CaseSummary, ...]:
    """Attempts by case, in order of first appearance."""
    by_case: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        by_case.setdefault(attempt.case_id, []).append(attempt)
    return tuple(CaseSummary(case_id=case_id, attempts=tuple(group)) for case_id, group in by_case.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Outcomes counted, and what has none: each attempt that was to be judged is in exactly one of these numbers.

    ``waiting``: it will be judged yet. ``sampled_out``: the binding's ratio left it out. ``not_run``: it was not judged for
    another reason (the agent failed, no telemetry).
    """

    passed: int = 0
    failed: int = 0
    inconclusive: int = 0
    errors: int = 0
    not_run: int = 0
    waiting: int = 0
    sampled_out: int = 0

    @property
    def eligible(self) -> int:
        """All that were to be judged: the denominator of the coverage."""
        unjudged = self.not_run + self.waiting + self.sampled_out
        return self.conclusive + self.inconclusive + self.errors + unjudged

    @property
    def conclusive(self) -> int:
        """Passed and failed: the denominator of a pass rate."""
        return self.passed + self.failed

    @property
    def rate(self) -> float | None:
        """Passed of conclusive; None where nothing is."""
        return self.passed / self.conclusive if self.conclusive else None

    @property
    def coverage(self) -> float | None:
        """Conclusive of all that were to be judged; None where nothing was."""
        return self.conclusive / self.eligible if self.eligible else None


def meant(attempts: Sequence[Attempt], of: str | type) -> Callable[[EvaluatorRef], bool]:
    """Which evaluators ``of`` means: the one of that id; where there is none, those of that check, or of that class.

    So one that is called as a check is (``tools``) is not counted together with all others of that check.
    """
    known = {ref.id for attempt in attempts for ref in attempt.planned}
    known |= {result.evaluator.id for attempt in attempts for result in attempt.results}
    if of in known:
        return lambda ref: ref.id == of
    return lambda ref: ref.matches(of)


def tally(
    attempts: Sequence[Attempt], of: str | type, *, is_meant: Callable[[EvaluatorRef], bool] | None = None
) -> Tally:
    """Outcomes of one evaluator (:func:`meant`, where that is not told) over all attempts."""
    is_meant = meant(attempts, of) if is_meant is None else is_meant
    counts = {Passed: 0, Failed: 0, Inconclusive: 0, Errored: 0}
    unjudged: Counter[str] = Counter()
    for attempt in attempts:
        matching = [each for each in attempt.results if each.check not in OWN_CHECKS and is_meant(each.evaluator)]
        for result in matching:
            counts[type(result.outcome)] += 1
        ran = {result.evaluator.id for result in matching}
        unjudged.update(_why(attempt, ref) for ref in attempt.planned if is_meant(ref) and ref.id not in ran)
    return Tally(
        passed=counts[Passed],
        failed=counts[Failed],
        inconclusive=counts[Inconclusive],
        errors=counts[Errored],
        **unjudged,
    )


def tally_attempts(attempts: Iterable[Attempt]) -> Tally:
    """Whole attempts by their status. One that is open is none of the outcomes: it waits, or nothing has judged it.

    It waits while an evaluator of it does, unless it has failed already; that one of several was sampled out leaves it as
    the others found it.
    """
    counts = Counter(open_for(attempt) or _NUMBER[attempt.status] for attempt in attempts)
    return Tally(**counts)


def open_for(attempt: Attempt) -> str | None:
    """Why nothing can be said of the attempt yet, by the name of the number in a :class:`Tally`; None where something can."""
    if attempt.waiting and attempt.status is not Status.FAILED:
        return "waiting"
    if attempt.results or not (attempt.sampled_out or attempt.left_alone):
        return None
    return "not_run" if attempt.left_alone else "sampled_out"


_NUMBER = {
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.ERROR: "errors",
    Status.INCONCLUSIVE: "inconclusive",
}


def _why(attempt: Attempt, ref: EvaluatorRef) -> str:
    if ref in attempt.waiting:
        return "waiting"
    return "sampled_out" if ref in attempt.sampled_out else "not_run"
