"""tools, tool-order, forbidden-tools and no-tool-errors, and what their details say."""

from __future__ import annotations

import pytest

from otel_eval import (
    Evaluator,
    should_call_tool,
    should_call_tools,
    should_call_tools_in_order,
    should_not_call_tool,
    should_not_call_tools,
    tools_should_not_fail,
)
from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.interaction import Gap, GapKind, Interaction, ToolCall
from otel_eval.outcome import Cause, Inconclusive, describe
from otel_eval.testing.interactions import interaction, tool_call

CAPTURE = Gap(field="tool_calls", kind=GapKind.DROPPED, setting="OTEL_SPAN_EVENT_COUNT_LIMIT")


def called(*names: str, **fields: object) -> Interaction:
    return interaction(tool_calls=names, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("evaluator", "judged", "said"),
    [
        (should_call_tool("a"), called("b", "a"), "PASS tools: called a"),
        (should_call_tool("a"), called("b"), "FAIL tools: expected a, was [b]: a never called"),
        (should_call_tool("a"), called("A"), "FAIL tools: expected a, was [A]: a never called"),
        (should_call_tools("a", "b"), called("b", "x", "a"), "PASS tools: called a, b"),
        (should_call_tools("a", "b", "c"), called("b"), "FAIL tools: expected a, b, c, was [b]: a, c never called"),
        (should_call_tool("a"), called(), "FAIL tools: expected a, was []: a never called"),
        (should_call_tools_in_order("a", "b"), called("a", "x", "b"), "PASS tool-order: called in order a, b"),
        (should_call_tools_in_order("a", "b"), called("b", "a"), "FAIL tool-order: expected in order a, b, was [b, a]"),
        (should_call_tools_in_order("a", "a"), called("a"), "FAIL tool-order: expected in order a, a, was [a]"),
        (should_call_tools_in_order("a", "b"), called("b"), "INCONCLUSIVE tool-order: a was never called"),
        (should_not_call_tool("a"), called("b"), "PASS forbidden-tools: no call of a"),
        (should_not_call_tool("a"), called("b", "a"), "FAIL forbidden-tools: expected no call of a, was [b, a]"),
        (should_not_call_tools("a", "b"), called("b"), "FAIL forbidden-tools: expected no call of b, was [b]"),
        (tools_should_not_fail(), called(), "PASS no-tool-errors: no tool failed in 0 calls"),
        (tools_should_not_fail(), called("a"), "PASS no-tool-errors: no tool failed in 1 call"),
    ],
)
async def test_whole_evidence(evaluator: Evaluator, judged: Interaction, said: str, context: EvaluationContext) -> None:
    """With every tool call captured, each check decides and its detail says what arrived."""
    assert describe(evaluator.check, await run(evaluator, judged, context)) == said


@pytest.mark.parametrize(
    ("evaluator", "judged", "word"),
    [
        (should_call_tool("a"), called("a", gaps=(CAPTURE,)), "PASS"),
        (should_call_tool("a"), called("b", gaps=(CAPTURE,)), "INCONCLUSIVE"),
        (should_call_tools_in_order("a", "b"), called("a", "b", gaps=(CAPTURE,)), "PASS"),
        (should_call_tools_in_order("a", "b"), called("b", "a", gaps=(CAPTURE,)), "INCONCLUSIVE"),
        (should_not_call_tool("a"), called("a", gaps=(CAPTURE,)), "FAIL"),
        (should_not_call_tool("a"), called("b", gaps=(CAPTURE,)), "INCONCLUSIVE"),
        (should_not_call_tool("a"), called("a", complete=False), "FAIL"),
        (should_not_call_tool("a"), called("b", complete=False), "INCONCLUSIVE"),
        (tools_should_not_fail(), called("b", gaps=(CAPTURE,)), "INCONCLUSIVE"),
        (tools_should_not_fail(), interaction(tool_calls=[tool_call("a", error="x")], gaps=(CAPTURE,)), "FAIL"),
    ],
)
async def test_partial_evidence(
    evaluator: Evaluator, judged: Interaction, word: str, context: EvaluationContext
) -> None:
    """Where calls may be missing, what is there decides only what they could not overturn."""
    assert (await run(evaluator, judged, context)).word == word


async def test_an_inconclusive_outcome_names_the_setting_that_would_close_the_gap(context: EvaluationContext) -> None:
    """The reason says why, what was seen all the same, and which setting helps."""
    outcome = await run(should_call_tool("a"), called("b", gaps=(CAPTURE,)), context)
    reason = (
        "tool calls dropped by the SDK; to capture it: OTEL_SPAN_EVENT_COUNT_LIMIT "
        "(as far as it was captured: expected a, was [b]: a never called)"
    )
    assert outcome == Inconclusive(reason, Cause.DROPPED)


async def test_a_tool_that_was_never_called_is_reported_by_tools_alone(context: EvaluationContext) -> None:
    """One fault is reported once: what depends on the call is inconclusive, and says so in its cause."""
    assert (await run(should_call_tool("a"), called("b"), context)).word == "FAIL"
    outcome = await run(should_call_tools_in_order("b", "a"), called("b"), context)
    assert outcome == Inconclusive("a was never called", Cause.DEPENDS_ON_OTHER_CHECK)


async def test_failed_tool_calls_are_told_with_their_errors(context: EvaluationContext) -> None:
    """no-tool-errors names each call that failed and how; a call that succeeded is not named."""
    judged = interaction(tool_calls=[tool_call("a", error="Timeout:\n too slow"), "b", tool_call("c", error="")])
    outcome = await run(tools_should_not_fail(), judged, context)
    said = "FAIL no-tool-errors: expected no tool to fail, was [a failed: Timeout: too slow, c failed: ]"
    assert describe("no-tool-errors", outcome) == said


async def test_a_call_that_failed_was_called(context: EvaluationContext) -> None:
    """tools asks for the call, not for its success."""
    judged = interaction(tool_calls=[tool_call("a", error="boom")])
    assert (await run(should_call_tool("a"), judged, context)).word == "PASS"


async def test_many_calls_are_cut_in_the_detail(context: EvaluationContext) -> None:
    """A detail names twenty calls and counts the rest."""
    outcome = await run(should_call_tool("a"), interaction(tool_calls=[ToolCall(name="b")] * 25), context)
    assert "b, and 5 more]" in describe("tools", outcome)
