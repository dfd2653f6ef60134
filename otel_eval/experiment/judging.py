"""One evaluator over one attempt, within its time."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.evaluators.contract import run as evaluate
from otel_eval.experiment.target import in_thread
from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored, Outcome


async def evaluate_within(
    evaluator: Evaluator, interaction: Interaction, context: EvaluationContext, seconds: float | None
) -> Outcome:
    """The outcome; without one after so many ``seconds``, an error of this result alone. None: as long as it takes.

    With a limit the evaluator is called in a thread, since one that blocks would block the limit too. A thread cannot be
    ended: it goes on unheard. What an evaluator awaits is cancelled.
    """
    if seconds is None:
        return await evaluate(evaluator, interaction, context)
    try:
        async with asyncio.timeout(seconds) as limit:
            return await evaluate(_InThread(evaluator), interaction, context)
    except TimeoutError as error:
        reason = f"no outcome within {seconds:g} s" if limit.expired() else f"TimeoutError: {error}"
        return Errored(reason=reason, error_type="TimeoutError")


class _InThread(Evaluator):
    """An evaluator whose call does not block the event loop."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.check = evaluator.check

    def default_id(self) -> str:
        return self._evaluator.id

    async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        returned: Any
        returned, raised = await in_thread(lambda: self._evaluator.evaluate(interaction, context), "evaluator")
        if raised is not None:
            raise raised
        outcome: Outcome = await returned if inspect.isawaitable(returned) else returned
        return outcome
