"""What came of an experiment."""

from __future__ import annotations

from dataclasses import dataclass

from otel_eval.experiment.errors import GateNotPassed
from otel_eval.experiment.gates import GateResult
from otel_eval.experiment.results import (
    OWN_CHECKS,
    Attempt,
    CaseSummary,
    EvaluatorRef,
    Result,
    Status,
    Tally,
    cases_of,
    tally,
)
from otel_eval.experiment.spend import Spend, spend_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The attempts of an experiment and what its gate decided. Also what :meth:`from_json` reads."""

    attempts: tuple[Attempt, ...]
    gate: GateResult
    name: str = "experiment"

    @property
    def passed(self) -> bool:
        """Whether the gate passed."""
        return self.gate.passed

    @property
    def results(self) -> tuple[Result, ...]:
        """Every result of every attempt, in their order."""
        return tuple(result for attempt in self.attempts for result in attempt.results)

    @property
    def cases(self) -> tuple[CaseSummary, ...]:
        """The attempts by case."""
        return cases_of(self.attempts)

    @property
    def evaluators(self) -> tuple[EvaluatorRef, ...]:
        """The evaluators that judged or were to judge, in order of first appearance."""
        planned = [ref for attempt in self.attempts for ref in attempt.planned]
        judged = [result.evaluator for result in self.results if result.check not in OWN_CHECKS]
        return tuple({ref.id: ref for ref in (*reversed(judged), *reversed(planned))}.values())[::-1]

    @property
    def spend(self) -> Spend:
        """Calls, tokens, cost and time."""
        return spend_of(self.attempts)

    def count(self, status: Status) -> int:
        """How many attempts came out so."""
        return sum(attempt.status is status for attempt in self.attempts)

    def tally(self, of: str | type) -> Tally:
        """Outcomes of one evaluator, by id, check or class."""
        return tally(self.attempts, of)

    def check(self) -> Report:
        """The report itself where the gate passed. Raises GateNotPassed, an AssertionError, with the report as its text."""
        __tracebackhide__ = True
        if not self.passed:
            raise GateNotPassed(f"{self.gate.detail}\n{self.render(color=False)}")
        return self

    def render(self, *, color: bool | None = None) -> str:
        """The report for people. ``color`` None: where standard output is a terminal that has not been told NO_COLOR."""
        from otel_eval.experiment.render import render

        return render(self, color)

    def to_json(self) -> str:
        """The report as JSON, in the published format (``report-schema.json``)."""
        from otel_eval.experiment.report_json import dump

        return dump(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """The report that :meth:`to_json` wrote. Raises UnreadableReport."""
        from otel_eval.experiment.report_json import load

        return load(text)

    def to_junit(self) -> str:
        """The report as JUnit XML: a test case for each attempt, and one for the gate."""
        from otel_eval.experiment.junit import junit

        return junit(self)
