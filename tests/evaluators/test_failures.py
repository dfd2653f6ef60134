"""no-failure."""

from __future__ import annotations

import pytest

from otel_eval import Interaction, should_not_fail
from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.interaction import Failure
from otel_eval.outcome import describe
from otel_eval.testing.interactions import interaction, tool_call


@pytest.mark.parametrize(
    ("judged", "said"),
    [
        (interaction(), "PASS no-failure: did not fail"),
        (interaction(tool_calls=[tool_call("a", error="boom")]), "PASS no-failure: did not fail"),
        (interaction(failure=Failure(type="ValueError", message="bad")),
         "FAIL no-failure: expected no failure, was ValueError: bad"),
        (interaction(failure=Failure()), "FAIL no-failure: expected no failure, was failed"),
        (interaction(complete=False), "INCONCLUSIVE no-failure: the agent span never came, or has not ended"),
        (interaction(complete=False, failure="HTTP 500"),
         "INCONCLUSIVE no-failure: the agent span never came, or has not ended; below it: HTTP 500"),
    ],
)  # fmt: skip
async def test_the_agent_span_tells(judged: Interaction, said: str, context: EvaluationContext) -> None:
    """Only the invocation's own failure counts, and without the agent span nobody knows whether it recovered."""
    assert describe("no-failure", await run(should_not_fail(), judged, context)) == said
