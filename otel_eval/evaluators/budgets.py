"""How much an Interaction may take, nested ones included: the ``…-budget`` checks. A limit of 0 is a limit."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from otel_eval.durations import LONGEST_NS, format_duration_ns, parse_duration_ns
from otel_eval.evaluators.contract import EvaluationContext
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.evidence import Decided, forbidding, lacking_of
from otel_eval.evaluators.exact import ExactEvaluator, a_count
from otel_eval.interaction import Interaction, Usage
from otel_eval.outcome import Cause, Inconclusive
from otel_eval.wording import number_of

_MILLISECOND = 1_000_000


class _Budget(ExactEvaluator):
    """A limit on something that only grows with more evidence: what is known of it may exceed the limit already."""

    trigger_on_failure = True

    @abc.abstractmethod
    def _measure(self, interaction: Interaction) -> tuple[int, Inconclusive | None]:
        """At least how much it was, and why it may have been more (None: that is all)."""

    @abc.abstractmethod
    def _limit(self) -> int: ...

    def _show(self, amount: int) -> str:
        return str(amount)

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        amount, lacking = self._measure(interaction)
        limit, shown = self._limit(), self._show(amount)
        exceeded = f"expected at most {self._show(limit)}, was {shown if lacking is None else f'at least {shown}'}"
        if lacking is not None and amount == 0:
            return lacking
        return forbidding(exceeded if amount > limit else None, f"{shown} of at most {self._show(limit)}", lacking)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ToolCallBudget(_Budget):
    """Limits the number of tool calls."""

    limit: int
    check = "tool-call-budget"
    factory = "should_make_at_most_tool_calls"

    def _limit(self) -> int:
        return self.limit

    def _measure(self, interaction: Interaction) -> tuple[int, Inconclusive | None]:
        return _counted(interaction, "tool_calls", interaction.totals.tool_calls, len(interaction.tool_calls))

    def _show(self, amount: int) -> str:
        return number_of(amount, "tool call")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModelCallBudget(_Budget):
    """Limits the number of model calls."""

    limit: int
    check = "model-call-budget"
    factory = "should_make_at_most_model_calls"

    def _limit(self) -> int:
        return self.limit

    def _measure(self, interaction: Interaction) -> tuple[int, Inconclusive | None]:
        return _counted(interaction, "model_calls", interaction.totals.model_calls, len(interaction.model_calls))

    def _show(self, amount: int) -> str:
        return number_of(amount, "model call")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TokenBudget(_Budget):
    """Limits input and output tokens together; cached and reasoning tokens are among them."""

    limit: int
    check = "token-budget"
    factory = "should_use_at_most_tokens"

    def _limit(self) -> int:
        return self.limit

    def _measure(self, interaction: Interaction) -> tuple[int, Inconclusive | None]:
        total = interaction.totals.usage
        known = max(_tokens(total), _tokens(interaction.usage))
        lacking = lacking_of(interaction, "usage")
        if lacking is None and (
            total.input_tokens is None or total.output_tokens is None or _counted_in_part(interaction)
        ):
            lacking = Inconclusive(reason="no full token count in the telemetry", cause=Cause.NOT_CAPTURED)
        return known, lacking

    def _show(self, amount: int) -> str:
        return number_of(amount, "token")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LatencyBudget(_Budget):
    """Limits the time from the agent's start to its end, in nanoseconds."""

    limit_ns: int
    check = "latency-budget"
    factory = "should_reply_within"

    def _arguments(self) -> Iterable[Any]:
        return (format_duration_ns(self.limit_ns),)

    def _limit(self) -> int:
        return self.limit_ns

    def _measure(self, interaction: Interaction) -> tuple[int, Inconclusive | None]:
        duration = interaction.duration_ns
        lacking = lacking_of(interaction, "started_ns", "ended_ns")
        if duration is None and lacking is None:
            lacking = Inconclusive(reason="no usable start and end in the telemetry", cause=Cause.NOT_CAPTURED)
        return (0 if duration is None else duration), lacking

    def _show(self, amount: int) -> str:
        if amount == self.limit_ns:
            return format_duration_ns(amount)
        # To the millisecond, rounded away from the limit: "at most 2s, was 2s" would explain nothing.
        rounded = -(-amount // _MILLISECOND) if amount > self.limit_ns else amount // _MILLISECOND
        return f"{Decimal(rounded) / 1000:f}s"


def should_make_at_most_tool_calls(n: int) -> ToolCallBudget:
    """Passes when no more tool calls were made, nested Interactions included. Inconclusive without a count."""
    return ToolCallBudget(limit=a_count("should_make_at_most_tool_calls", "n", n))


def should_make_at_most_model_calls(n: int) -> ModelCallBudget:
    """Passes when no more model calls were made, nested Interactions included. Inconclusive without a count."""
    return ModelCallBudget(limit=a_count("should_make_at_most_model_calls", "n", n))


def should_use_at_most_tokens(n: int) -> TokenBudget:
    """Passes when no more tokens were used, nested Interactions included. Inconclusive without a count."""
    return TokenBudget(limit=a_count("should_use_at_most_tokens", "n", n))


def should_reply_within(duration: timedelta | float | str) -> LatencyBudget:
    """Passes when the agent took no longer: a timedelta, seconds, or a text such as ``2s``. Inconclusive without a time."""
    return LatencyBudget(limit_ns=_duration_ns(duration))


def _duration_ns(duration: object) -> int:
    allowed = "should_reply_within: a duration is a timedelta, seconds from 0 up, or a text such as 250ms or 2s"
    if isinstance(duration, timedelta):
        nanoseconds = duration // timedelta(microseconds=1) * 1_000
    elif isinstance(duration, str):
        try:
            nanoseconds = parse_duration_ns(duration)
        except ValueError as error:
            raise EvaluatorDefinitionError(f"should_reply_within: {error}") from None
    elif isinstance(duration, bool) or not isinstance(duration, int | float) or not abs(duration) < LONGEST_NS / 1e9:
        raise EvaluatorDefinitionError(f"{allowed}, not {duration!r}")
    else:
        nanoseconds = round(duration * 1_000_000_000)
    if nanoseconds < 0:
        raise EvaluatorDefinitionError(f"{allowed}, not {duration!r}")
    return nanoseconds


def _counted(interaction: Interaction, field: str, total: int | None, own: int) -> tuple[int, Inconclusive | None]:
    lacking = lacking_of(interaction, field)
    if lacking is None and total is None:
        lacking = Inconclusive(
            reason=f"no count of {field.replace('_', ' ')} in the telemetry", cause=Cause.NOT_CAPTURED
        )
    return max(own, total or 0), lacking


def _tokens(usage: Usage) -> int:
    return usage.total_tokens or 0


def _counted_in_part(interaction: Interaction) -> bool:
    """Whether some answered model calls told tokens, of input or of output, that others did not: their sum is then no total."""
    told = {
        (call.usage.input_tokens is None, call.usage.output_tokens is None)
        for call in interaction.model_calls
        if call.failure is None
    }
    return len(told) > 1
