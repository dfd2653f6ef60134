"""The budgets: limits on what only grows with more evidence."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from otel_eval import (
    Evaluator,
    should_make_at_most_model_calls,
    should_make_at_most_tool_calls,
    should_reply_within,
    should_use_at_most_tokens,
)
from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.interaction import Gap, GapKind, Interaction, ModelCall, Totals, Usage
from otel_eval.outcome import describe
from otel_eval.testing.interactions import interaction


def tokens(**fields: int | None) -> Interaction:
    return interaction(totals=Totals(usage=Usage(**fields)), usage=Usage())


@pytest.mark.parametrize(
    ("evaluator", "judged", "said"),
    [
        (should_make_at_most_tool_calls(2), interaction(tool_calls=["a", "b"]),
         "PASS tool-call-budget: 2 tool calls of at most 2 tool calls"),
        (should_make_at_most_tool_calls(1), interaction(tool_calls=["a", "b"]),
         "FAIL tool-call-budget: expected at most 1 tool call, was 2 tool calls"),
        (should_make_at_most_tool_calls(0), interaction(), "PASS tool-call-budget: 0 tool calls of at most 0 tool calls"),
        (should_make_at_most_tool_calls(0), interaction(tool_calls=["a"]),
         "FAIL tool-call-budget: expected at most 0 tool calls, was 1 tool call"),
        (should_make_at_most_tool_calls(1), interaction(tool_calls=["a"], totals=Totals(tool_calls=3)),
         "FAIL tool-call-budget: expected at most 1 tool call, was 3 tool calls"),
        (should_make_at_most_model_calls(3), interaction(model_calls=3),
         "PASS model-call-budget: 3 model calls of at most 3 model calls"),
        (should_make_at_most_model_calls(0), interaction(model_calls=1),
         "FAIL model-call-budget: expected at most 0 model calls, was 1 model call"),
        (should_use_at_most_tokens(120), interaction(), "PASS token-budget: 120 tokens of at most 120 tokens"),
        (should_use_at_most_tokens(0), tokens(input_tokens=0, output_tokens=0),
         "PASS token-budget: 0 tokens of at most 0 tokens"),
        (should_use_at_most_tokens(119), interaction(), "FAIL token-budget: expected at most 119 tokens, was 120 tokens"),
        (should_reply_within("2s"), interaction(seconds=2), "PASS latency-budget: 2s of at most 2s"),
        (should_reply_within(timedelta(seconds=2)), interaction(seconds=2.431),
         "FAIL latency-budget: expected at most 2s, was 2.431s"),
        (should_reply_within(0), interaction(seconds=0.0001), "FAIL latency-budget: expected at most 0s, was 0.001s"),
        (should_reply_within("2s"), interaction(started_ns=0, ended_ns=2_000_000_001),
         "FAIL latency-budget: expected at most 2s, was 2.001s"),
    ],
)  # fmt: skip
async def test_whole_evidence(evaluator: Evaluator, judged: Interaction, said: str, context: EvaluationContext) -> None:
    """The limit itself is within, 0 is a limit, and nested Interactions count."""
    assert describe(evaluator.check, await run(evaluator, judged, context)) == said


@pytest.mark.parametrize(
    ("evaluator", "judged", "said"),
    [
        (should_make_at_most_tool_calls(1), interaction(tool_calls=["a", "b"], totals=Totals()),
         "FAIL tool-call-budget: expected at most 1 tool call, was at least 2 tool calls"),
        (should_make_at_most_tool_calls(5), interaction(missing=["tool_calls"]),
         "INCONCLUSIVE tool-call-budget: tool calls not captured"),
        (should_make_at_most_tool_calls(5), interaction(totals=Totals()),
         "INCONCLUSIVE tool-call-budget: no count of tool calls in the telemetry"),
        (should_make_at_most_tool_calls(5), interaction(tool_calls=["a"], complete=False),
         "INCONCLUSIVE tool-call-budget: the agent span never came, or has not ended (as far as it was captured: "
         "1 tool call of at most 5 tool calls)"),
        (should_use_at_most_tokens(50), tokens(input_tokens=51),
         "FAIL token-budget: expected at most 50 tokens, was at least 51 tokens"),
        (should_use_at_most_tokens(50), tokens(input_tokens=49),
         "INCONCLUSIVE token-budget: no full token count in the telemetry (as far as it was captured: "
         "49 tokens of at most 50 tokens)"),
        (should_use_at_most_tokens(50),
         interaction(model_calls=[ModelCall(usage=Usage(input_tokens=1, output_tokens=2)), ModelCall()], input_tokens=1,
                     output_tokens=2),
         "INCONCLUSIVE token-budget: no full token count in the telemetry (as far as it was captured: "
         "3 tokens of at most 50 tokens)"),
        (should_use_at_most_tokens(50), interaction(model_calls=0, input_tokens=1, output_tokens=2,
                                                    gaps=(Gap(field="model_calls", kind=GapKind.NOT_CAPTURED),)),
         "PASS token-budget: 3 tokens of at most 50 tokens"),
        (should_use_at_most_tokens(50), tokens(), "INCONCLUSIVE token-budget: no full token count in the telemetry"),
        (should_reply_within(1), interaction(ended_ns=None),
         "INCONCLUSIVE latency-budget: no usable start and end in the telemetry"),
        (should_reply_within(1), interaction(started_ns=5, ended_ns=4),
         "INCONCLUSIVE latency-budget: no usable start and end in the telemetry"),
        (should_reply_within(1), interaction(seconds=3, complete=False),
         "FAIL latency-budget: expected at most 1s, was at least 3s"),
        (should_make_at_most_model_calls(1), interaction(gaps=(Gap(field="model_calls", kind=GapKind.DROPPED),)),
         "INCONCLUSIVE model-call-budget: model calls dropped by the SDK (as far as it was captured: "
         "1 model call of at most 1 model call)"),
    ],
)  # fmt: skip
async def test_partial_evidence(
    evaluator: Evaluator, judged: Interaction, said: str, context: EvaluationContext
) -> None:
    """A limit may be exceeded already; that it is kept, only the whole can tell."""
    assert describe(evaluator.check, await run(evaluator, judged, context)) == said


@pytest.mark.parametrize(
    ("given", "evaluator_id"),
    [
        ("2s", "should_reply_within(2s)"),
        ("250ms", "should_reply_within(250ms)"),
        (2, "should_reply_within(2s)"),
        (2.0, "should_reply_within(2s)"),
        (0.1, "should_reply_within(100ms)"),
        (timedelta(minutes=1, milliseconds=5), "should_reply_within(1m5ms)"),
    ],
)
def test_durations_are_taken_in_three_forms(given: Any, evaluator_id: str) -> None:
    """A text, seconds and a timedelta of one length make one evaluator."""
    assert should_reply_within(given).id == evaluator_id


@pytest.mark.parametrize(
    "given", ["2", "fast", "", -1, -0.5, float("nan"), float("inf"), 1e308, 10**400, True, None, timedelta(seconds=-1)]
)
def test_what_is_no_duration_is_refused(given: Any) -> None:
    """Negative, endless, unit-less and other things are definition errors that show a right one."""
    with pytest.raises(EvaluatorDefinitionError, match=r"should_reply_within: .*(250ms|2s)"):
        should_reply_within(given)


@pytest.mark.parametrize("n", [-1, 1.0, True, "3", None])
def test_a_limit_is_a_whole_number(n: Any) -> None:
    """Nothing but whole numbers from 0 up are limits of a count."""
    with pytest.raises(EvaluatorDefinitionError, match="expected a whole number of at least 0 for n, was"):
        should_use_at_most_tokens(n)
