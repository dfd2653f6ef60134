"""Judges decide how well an Interaction meets a criterion.

A judge holds no criterion, so one serves any number; :meth:`Judge.should_satisfy` makes an evaluator of one of them.
"""

from __future__ import annotations

import abc
import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from otel_eval.aside import MAX_HUNG, aside_of
from otel_eval.interaction import Interaction
from otel_eval.judges.conversation import current_conversation
from otel_eval.judges.errors import JudgeTimeout
from otel_eval.outcome import Verdict

if TYPE_CHECKING:
    from otel_eval.evaluators.criterion import JudgeEvaluator

Decision: TypeAlias = "Callable[[str, Interaction], Verdict | Awaitable[Verdict]]"

PASSING_SCORE = 0.5
"""``should_satisfy`` passes from this score on."""


class Judge(abc.ABC):
    """Decides how well an Interaction meets a criterion (one sentence).

    ``has_limits``: its :meth:`decide` sees to it that it ends, as that of a judge with a model does.
    """

    has_limits: ClassVar[bool] = False

    def __init_subclass__(cls, **arguments: Any) -> None:
        """A subclass with a :meth:`decide` of its own does not inherit the promise."""
        super().__init_subclass__(**arguments)
        if "decide" in cls.__dict__ and "has_limits" not in cls.__dict__:
            cls.has_limits = False

    @abc.abstractmethod
    def decide(self, criterion: str, interaction: Interaction) -> Verdict | Awaitable[Verdict]:
        """The verdict; sync or async. A sync one runs in a thread, so that it may block. May raise: then there is none."""

    @staticmethod
    def of(function: Decision) -> Judge:
        """A judge made of a function or lambda ``(criterion, interaction) -> Verdict``, sync or async."""
        return _FunctionJudge(function)

    def should_satisfy(self, criterion: str, *, votes: int = 1, requires: Iterable[str] = ()) -> JudgeEvaluator:
        """An evaluator that passes at a score of at least 0.5.

        ``votes`` (odd): ask that often, the low median counts. ``requires``: fields without which there is nothing to
        judge. Raises EvaluatorDefinitionError (a ValueError) for a blank criterion, even votes or an unknown field.
        """
        return self.should_score_at_least(criterion, PASSING_SCORE, votes=votes, requires=requires)

    def should_score_at_least(
        self, criterion: str, threshold: float, *, votes: int = 1, requires: Iterable[str] = ()
    ) -> JudgeEvaluator:
        """An evaluator that passes at a score of at least ``threshold`` (0..1); see :meth:`should_satisfy`."""
        # Evaluators stand on judges: this sentence of the API is the one step the other way.
        from otel_eval.evaluators.criterion import JudgeEvaluator

        return JudgeEvaluator(
            criterion=criterion, judge=self, threshold=threshold, votes=votes, requires=tuple(requires)
        )

    def definition(self) -> Any:
        """What the verdicts depend on, for the version of evaluators: data, functions and types; no secrets."""
        return [type(self), getattr(self, "__dict__", {})]


async def decide(judge: Judge, criterion: str, interaction: Interaction) -> Verdict:
    """The judge's verdict, awaited where it is async, in a thread where it is not. Raises what the judge raises.

    Raises JudgeTimeout for a judge without limits of its own that takes longer than the conversation allows, and TypeError
    where it returns anything but a verdict.
    """
    verdict: Any
    if judge.has_limits and inspect.iscoroutinefunction(judge.decide):
        verdict = await judge.decide(criterion, interaction)
    else:
        verdict = await current_conversation().in_time(_asked(judge, criterion, interaction), "the judge")
    if not isinstance(verdict, Verdict):
        raise TypeError(f"{type(judge).__name__} returned {type(verdict).__name__}, not a Verdict")
    return verdict


async def _asked(judge: Judge, criterion: str, interaction: Interaction) -> Any:
    if inspect.iscoroutinefunction(judge.decide):
        return await judge.decide(criterion, interaction)
    aside = aside_of(judge, "otel-eval-judge")
    if aside.hung >= MAX_HUNG:
        raise JudgeTimeout(f"the judge was not asked: {aside.hung} earlier calls have not come back")
    verdict = await aside.call(lambda: judge.decide(criterion, interaction))
    return await verdict if inspect.isawaitable(verdict) else verdict


class _FunctionJudge(Judge):
    def __init__(self, function: Decision) -> None:
        self._function = function

    def decide(self, criterion: str, interaction: Interaction) -> Verdict | Awaitable[Verdict]:
        return self._function(criterion, interaction)

    def definition(self) -> Any:
        return self._function
