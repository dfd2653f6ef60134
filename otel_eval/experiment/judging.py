"""Evaluators as the server runs them: one's own may block or hang, and must not hold up agents or each other."""

from __future__ import annotations

from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.custom import FunctionEvaluator


class Isolation:
    """Puts each evaluator that is not ours into a thread and behind a timeout; ours do not block, and judges have limits."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._isolated: dict[int, tuple[Evaluator, Evaluator]] = {}

    def of(self, evaluator: Evaluator) -> Evaluator:
        """What to call in its place; the same one each time, since it counts the calls that never came back."""
        held = self._isolated.get(id(evaluator))
        if held is None:
            held = self._isolated[id(evaluator)] = (evaluator, self._made(evaluator))
        return held[1]

    def _made(self, evaluator: Evaluator) -> Evaluator:
        if type(evaluator).__module__.startswith("otel_eval.") and not isinstance(evaluator, FunctionEvaluator):
            return evaluator
        from otel_eval.dispatch.isolation import Isolated  # not needed to say what an experiment is

        return Isolated(evaluator, timeout=self._seconds)
