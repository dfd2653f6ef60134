"""Whether the invocation itself failed: the check ``no-failure``."""

from __future__ import annotations

from dataclasses import dataclass

from otel_eval.evaluators.contract import EvaluationContext
from otel_eval.evaluators.evidence import AGENT_SPAN_MISSING, Decided, forbidding, lacking_of
from otel_eval.evaluators.exact import ExactEvaluator
from otel_eval.evaluators.values import clip
from otel_eval.interaction import Interaction
from otel_eval.outcome import Inconclusive


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DoesNotFail(ExactEvaluator):
    """Forbids a failed Interaction. Only the agent span tells: a failure below it may have been recovered from."""

    check = "no-failure"
    factory = "should_not_fail"
    trigger_on_failure = True

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        failure = None if interaction.failure is None else clip(str(interaction.failure))
        if not interaction.complete:
            below = f"; below it: {failure}" if failure is not None else ""
            return Inconclusive(reason=AGENT_SPAN_MISSING.reason + below, cause=AGENT_SPAN_MISSING.cause)
        found = None if failure is None else f"expected no failure, was {failure}"
        return forbidding(found, "did not fail", lacking_of(interaction, "failure"))


def should_not_fail() -> DoesNotFail:
    """Passes when the Interaction did not fail. Inconclusive when the agent span never came."""
    return DoesNotFail()
