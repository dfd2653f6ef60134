"""What becomes of one evaluation: exactly one of four types, never one encoded as another.

* :class:`Passed` and :class:`Failed` carry an evaluation: an explanation, and a score, a label and attributes where there
  are any. A missing score is None, never 0.
* :class:`Inconclusive`: there was nothing to judge, or no usable verdict. Not a failure, not a pass, never in a pass rate.
* :class:`Errored`: the evaluator itself broke.

Nothing here imports anything of ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, TypeAlias

AttributeValue: TypeAlias = str | bool | int | float


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's decision: how well the criterion is met, from 0 (not at all) to 1 (fully), and why, in one sentence.

    Raises ValueError where the score is NaN or outside 0..1: such a number was never a verdict.
    """

    score: float
    reason: str

    def __post_init__(self) -> None:
        if isinstance(self.score, bool) or not isinstance(self.score, int | float):
            raise ValueError(f"a score is a number from 0 to 1, not {self.score!r}")
        if math.isnan(self.score) or not 0 <= self.score <= 1:
            raise ValueError(f"a score is a number from 0 to 1, not {self.score!r}")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a conclusive outcome says: why, and a score or label only where the evaluator gives one."""

    explanation: str
    score: float | None = None
    label: str | None = None
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passed(Evaluation):
    """The Interaction meets what the evaluator checks."""

    name: ClassVar[str] = "passed"
    word: ClassVar[str] = "PASS"


@dataclass(frozen=True, slots=True)
class Failed(Evaluation):
    """The Interaction does not meet what the evaluator checks."""

    name: ClassVar[str] = "failed"
    word: ClassVar[str] = "FAIL"


class Cause(StrEnum):
    """The bounded set behind ``otel_eval.reason``: why an evaluation gave no verdict, fit for a metric or an alert."""

    NOT_CAPTURED = "not_captured"
    REDACTED = "redacted"
    TRUNCATED = "truncated"
    DROPPED = "dropped"
    INCOMPLETE = "incomplete"
    NOTHING_TO_JUDGE = "nothing_to_judge"
    DEPENDS_ON_OTHER_CHECK = "depends_on_other_check"
    """What this check needs did not happen, and another check reports that (a tool that was never called)."""
    INTERACTION_FAILED = "interaction_failed"
    JUDGE_ANSWER_UNUSABLE = "judge_answer_unusable"
    JUDGE_ERROR = "judge_error"
    JUDGE_TIMEOUT = "judge_timeout"
    JUDGE_UNAVAILABLE = "judge_unavailable"
    JUDGE_VOTES_UNUSABLE = "judge_votes_unusable"
    BUDGET_SPENT = "budget_spent"
    UNKNOWN_LABEL = "unknown_label"
    EVALUATOR_ERROR = "evaluator_error"
    LOOP_GUARD = "loop_guard"
    NO_TELEMETRY = "no_telemetry"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """Nothing to judge, or no usable verdict. ``reason`` is for people, ``cause`` for metrics."""

    reason: str
    cause: Cause = Cause.OTHER

    name: ClassVar[str] = "inconclusive"
    word: ClassVar[str] = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True)
class Errored:
    """The evaluator itself broke. ``error_type`` is what ``error.type`` will say (an exception class, or a code)."""

    reason: str
    error_type: str = "error"
    cause: Cause = Cause.EVALUATOR_ERROR

    name: ClassVar[str] = "error"
    word: ClassVar[str] = "ERROR"


Outcome: TypeAlias = Passed | Failed | Inconclusive | Errored


def describe(check: str, outcome: Outcome) -> str:
    """The outcome on one line: ``FAIL tools: …``, ``PASS judge: <criterion>: scored 0.90, needed 0.50 — <reason>``."""
    return f"{outcome.word} {check}: {why(outcome)}"


def why(outcome: Outcome) -> str:
    """What it says for itself, on one line: the reason, or the explanation; after its label where that stands for a score.

    A label judge's explanation need not name the label that it came to: ``rude — it mocks the customer``.
    """
    if not isinstance(outcome, Evaluation):
        return " ".join(outcome.reason.split())
    label = outcome.label if outcome.score is None else None
    return " — ".join(" ".join(text.split()) for text in (label, outcome.explanation) if text)
