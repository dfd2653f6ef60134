"""What an experiment used: the agent by its telemetry, the judges by their calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otel_eval.experiment.results import Attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """Sums. None: the telemetry does not say. ``judge_cost_usd`` sums the calls whose price is known; ``unpriced`` counts
    the others. Times are nanoseconds."""

    agent_model_calls: int | None = None
    agent_tokens: int | None = None
    agent_mean_ns: int | None = None
    agent_slowest_ns: int | None = None
    judge_calls: int = 0
    judge_tokens: int | None = None
    judge_cost_usd: float | None = None
    judge_unpriced: int = 0
    judge_mean_ns: int | None = None


def spend_of(attempts: Sequence[Attempt]) -> Spend:
    """The spend of these attempts."""
    interactions = [attempt.interaction for attempt in attempts if attempt.interaction is not None]
    calls = [call for attempt in attempts for result in attempt.results for call in result.judge_calls]
    agent_ns = [each.duration_ns for each in interactions if each.duration_ns is not None]
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    return Spend(
        agent_model_calls=_sum(each.totals.model_calls for each in interactions),
        agent_tokens=_sum(each.totals.usage.total_tokens for each in interactions),
        agent_mean_ns=_mean(agent_ns),
        agent_slowest_ns=max(agent_ns, default=None),
        judge_calls=len(calls),
        judge_tokens=_sum(count for call in calls for count in (call.input_tokens, call.output_tokens)),
        judge_cost_usd=sum(costs) if costs else None,
        judge_unpriced=len(calls) - len(costs),
        judge_mean_ns=_mean([call.ended_ns - call.started_ns for call in calls]),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Sequence[int]) -> int | None:
    return sum(values) // len(values) if values else None
