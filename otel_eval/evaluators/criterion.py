"""The evaluator of the check ``judge``: a judge decides whether a reply meets a criterion."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.evaluators.definition import call_text, stable
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.judging import (
    VOTES_ATTRIBUTE,
    ballot,
    checked_requires,
    checked_votes,
    inconclusive_for,
    lacking,
    majority,
)
from otel_eval.identity import digest
from otel_eval.interaction import Interaction
from otel_eval.judges.errors import JudgeUnavailable
from otel_eval.judges.judge import PASSING_SCORE, Judge, decide
from otel_eval.judges.model_judge import ModelJudge
from otel_eval.judges.per_loop import LoopJudges
from otel_eval.outcome import Failed, Inconclusive, Outcome, Passed, Verdict


def should_satisfy(
    criterion: str, *, judge: Judge | None = None, votes: int = 1, requires: Iterable[str] = ()
) -> JudgeEvaluator:
    """Passes where the judge scores at least 0.5; without ``judge``, the configured default model is asked."""
    return _given(judge).should_satisfy(criterion, votes=votes, requires=requires)


def should_score_at_least(
    criterion: str, threshold: float, *, judge: Judge | None = None, votes: int = 1, requires: Iterable[str] = ()
) -> JudgeEvaluator:
    """Passes where the judge scores at least ``threshold`` (0..1); without ``judge``, the configured default is asked."""
    return _given(judge).should_score_at_least(criterion, threshold, votes=votes, requires=requires)


def _given(judge: Judge | None) -> Judge:
    """Raises EvaluatorDefinitionError for anything but a judge: a model's name and a function are easily given for one."""
    if judge is None:
        return ModelJudge()
    if not isinstance(judge, Judge):
        ways = "ModelJudge(model=…), Judge.of(function) or a Judge of your own"
        raise EvaluatorDefinitionError(f"judge is {ways}, not {judge!r}")
    return judge


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgeEvaluator(Evaluator):
    """Passes where ``judge`` gives ``criterion`` a score of at least ``threshold``.

    Inconclusive where the reply is blank or not captured, where a field of ``requires`` is a gap, and where the judge
    gives no usable verdict. With more ``votes`` (odd), the low median of the usable ones counts: always a score that was
    given. Raises EvaluatorDefinitionError for values out of range.
    """

    criterion: str
    judge: Judge = field(default_factory=ModelJudge)
    threshold: float = PASSING_SCORE
    votes: int = 1
    requires: tuple[str, ...] = ()
    check = "judge"
    asks_model = True

    def __post_init__(self) -> None:
        if not isinstance(self.criterion, str) or not self.criterion.strip():
            raise EvaluatorDefinitionError("a criterion is one sentence, not blank")
        if isinstance(self.threshold, bool) or math.isnan(self.threshold) or not 0 <= self.threshold <= 1:
            raise EvaluatorDefinitionError(f"a threshold is from 0 to 1, not {self.threshold!r}")
        checked_votes(self.votes)
        checked_requires(self.requires)

    def default_id(self) -> str:
        if self.threshold == PASSING_SCORE:
            return call_text("should_satisfy", self.criterion)
        return call_text("should_score_at_least", self.criterion, self.threshold)

    @property
    def version(self) -> str:
        """12 hex digits: a digest of the criterion, the threshold, the prompts, the requested model and the votes."""
        parts = (self.criterion, repr(float(self.threshold)), str(self.votes), ",".join(self.requires))
        return digest("judge", *parts, json.dumps(stable(self.judge.definition()), sort_keys=True))[:12]

    def with_judges(self, judges: LoopJudges | None) -> Self:
        """See :meth:`Evaluator.with_judges`; its judge takes them along, too, to other criteria."""
        changed = super().with_judges(judges)
        if isinstance(self.judge, ModelJudge):
            object.__setattr__(changed, "judge", self.judge.with_judges(judges))
        return changed

    def lacks(self, interaction: Interaction) -> Inconclusive | None:
        """Its outcome where there is nothing to judge, which takes no judge to say; None where the judge is to be asked."""
        missing = lacking(interaction, self.requires)
        return None if missing is None else self._inconclusive(missing)

    async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        missing = self.lacks(interaction)
        if missing is not None:
            return missing
        try:
            asked = self.in_context(context)
            result = await ballot(lambda: decide(self.judge, self.criterion, interaction), self.votes, "judge", asked)
        except JudgeUnavailable as error:
            error.subject = self.criterion.strip()
            raise
        if len(result.usable) < majority(self.votes):
            return self._inconclusive(inconclusive_for(result.trouble, self.votes))
        verdict = low_median(result.usable)
        attributes = result.attributes()
        if self.votes > 1:
            attributes[VOTES_ATTRIBUTE] = ",".join(f"{vote.score:g}" for vote in result.usable)
        kind = Passed if verdict.score >= self.threshold else Failed
        return kind(explanation=self._explanation(verdict), score=float(verdict.score), attributes=attributes)

    def _explanation(self, verdict: Verdict) -> str:
        scored, needed = score_texts(verdict.score, self.threshold)
        return f"{self.criterion.strip()}: scored {scored}, needed {needed} — {verdict.reason}"

    def _inconclusive(self, why: Inconclusive) -> Inconclusive:
        return Inconclusive(f"{self.criterion.strip()}: {why.reason}", why.cause)


def low_median(votes: Iterable[Verdict]) -> Verdict:
    """The vote in the middle; of an even number the lower of the two, so that it is always one that was given."""
    ordered = sorted(votes, key=lambda vote: vote.score)
    middle = statistics.median_low([vote.score for vote in ordered])
    return next(vote for vote in ordered if vote.score == middle)


def score_texts(score: float, threshold: float) -> tuple[str, str]:
    """Both with two decimals, or with as many as it takes to show that they differ."""
    for digits in range(2, 17):
        texts = f"{score:.{digits}f}", f"{threshold:.{digits}f}"
        if score == threshold or texts[0] != texts[1]:
            return texts
    return repr(score), repr(threshold)
