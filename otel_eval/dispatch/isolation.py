"""Custom evaluators may block, hang or take long: they run in a thread of their own, for a limited time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from otel_eval.aside import MAX_HUNG, Aside
from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored, Outcome


class Isolated(Evaluator):
    """A custom evaluator behind a timeout; one whose ``evaluate`` is not a coroutine function runs in a thread.

    Past the timeout the outcome is an *error*, a coroutine is cancelled, and a thread is left to itself.
    """

    def __init__(self, evaluator: Evaluator, *, timeout: float) -> None:
        self._evaluator = evaluator
        self._timeout = timeout
        self._aside = Aside(f"otel-eval-{evaluator.id}")
        self.check = evaluator.check
        self.threshold = evaluator.threshold
        self.trigger_on_failure = evaluator.trigger_on_failure
        self.asks_model = evaluator.asks_model
        self._judges = evaluator._judges

    @property
    def id(self) -> str:
        """The id of the evaluator inside."""
        return self._evaluator.id

    @property
    def version(self) -> str:
        """The version of the evaluator inside."""
        return self._evaluator.version

    @property
    def hung(self) -> int:
        """Calls that were given up on and have not come back."""
        return self._aside.hung

    async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        """The inner evaluator's outcome, or an error when its time is up. Raises what the inner one raises."""
        if self.hung >= MAX_HUNG:
            return Errored(reason=f"not called: {self.hung} earlier calls have not come back", error_type="hung")
        try:
            async with asyncio.timeout(self._timeout) as limit:
                return await self._call(interaction, context)
        except TimeoutError:
            if not limit.expired():
                raise  # the evaluator's own
            return Errored(reason=f"took longer than {self._timeout:g} s", error_type="timeout")

    async def _call(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        evaluate: Callable[..., Any] = self._evaluator.evaluate
        if inspect.iscoroutinefunction(evaluate):
            outcome: Outcome = await evaluate(interaction, context)
            return outcome
        given = await self._aside.call(lambda: evaluate(interaction, context))
        return await given if inspect.isawaitable(given) else given  # type: ignore[no-any-return]
