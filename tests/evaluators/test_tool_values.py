"""tool-arguments and tool-results, and what their details say."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval import Evaluator, ToolCall, should_call_tool_with, tool_result_should_contain
from otel_eval.evaluators.contract import EvaluationContext, run
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.interaction import Gap, GapKind, Interaction
from otel_eval.outcome import Cause, Inconclusive, describe
from otel_eval.testing.interactions import interaction, tool_call


def with_arguments(*values: Any, gap: GapKind | None = None) -> Interaction:
    gaps = () if gap is None else (Gap(field="arguments", kind=gap),)
    return interaction(tool_calls=[tool_call("getOrder", value, gaps=gaps) for value in values])


def with_results(*values: Any, gap: GapKind | None = None) -> Interaction:
    gaps = () if gap is None else (Gap(field="result", kind=gap),)
    return interaction(tool_calls=[tool_call("getOrder", {}, value, gaps=gaps) for value in values])


def wants(value: Any) -> Evaluator:
    return should_call_tool_with("getOrder", "orderId", value)


@pytest.mark.parametrize(
    ("value", "arguments", "said"),
    [
        ("o_43", [{"orderId": "o_42"}], "FAIL tool-arguments: getOrder(orderId) expected o_43, was [o_42]"),
        ("o_43", [{"orderId": "o_42"}, {"orderId": "o_43"}], "PASS tool-arguments: getOrder(orderId) was o_43"),
        (12, [{"orderId": 12.0}], "PASS tool-arguments: getOrder(orderId) was 12"),
        (4999, [{"orderId": "4999"}], 'FAIL tool-arguments: getOrder(orderId) expected 4999, was ["4999"]'),
        ("4999", [{"orderId": 4999}], 'FAIL tool-arguments: getOrder(orderId) expected "4999", was [4999]'),
        (1, [{"orderId": True}], "FAIL tool-arguments: getOrder(orderId) expected 1, was [true]"),
        (True, [{"orderId": 1}], "FAIL tool-arguments: getOrder(orderId) expected true, was [1]"),
        (None, [{"orderId": None}], "PASS tool-arguments: getOrder(orderId) was null"),
        (None, [{}], "FAIL tool-arguments: getOrder(orderId) expected null, was [(absent)]"),
        (None, [{"orderId": ""}], 'FAIL tool-arguments: getOrder(orderId) expected null, was [""]'),
        ("o_43", [None, "text", ["o_43"]], "FAIL tool-arguments: getOrder(orderId) expected o_43, was "
         "[(absent), (absent), (absent)]"),
        ({"a": [1]}, [{"orderId": {"a": [1.0]}}], 'PASS tool-arguments: getOrder(orderId) was {"a":[1]}'),
        ("o_43", [], "INCONCLUSIVE tool-arguments: getOrder was never called"),
    ],
)  # fmt: skip
async def test_arguments_are_compared_by_value(
    value: Any, arguments: list[Any], said: str, context: EvaluationContext
) -> None:
    """Numbers by number, text by text, None only with None; what arrived is shown so that a difference can be seen."""
    outcome = await run(wants(value), with_arguments(*arguments), context)
    assert describe("tool-arguments", outcome) == said


@pytest.mark.parametrize(
    ("judged", "word"),
    [
        (with_arguments({"orderId": "o_43", "note": "a b"}, gap=GapKind.TRUNCATED), "PASS"),
        (with_arguments({"note": "a b", "orderId": "o_43"}, gap=GapKind.TRUNCATED), "INCONCLUSIVE"),
        (with_arguments({"orderId": "o_42", "note": "a b"}, gap=GapKind.TRUNCATED), "FAIL"),
        (with_arguments({"note": "a b", "orderId": "o_4"}, gap=GapKind.TRUNCATED), "INCONCLUSIVE"),
        (with_arguments('{"orderId": "o_43', gap=GapKind.TRUNCATED), "INCONCLUSIVE"),
        (with_arguments('{"orderId": "o_43"', gap=GapKind.TRUNCATED), "INCONCLUSIVE"),
        (with_arguments('{"orderId": "o_43", "no', gap=GapKind.TRUNCATED), "PASS"),
        (with_arguments(' {"n": {"a": [1, 2]}, "orderId" : "o_43" ,', gap=GapKind.TRUNCATED), "PASS"),
        (with_arguments('{"orderId": "o_42", "note": "a b', gap=GapKind.TRUNCATED), "FAIL"),
        (with_arguments('{"orderId": "[REDACTED]", "note": "a b', gap=GapKind.TRUNCATED), "INCONCLUSIVE"),
        (with_arguments('{"note": {"orderId": "o_43", "a": "b', gap=GapKind.TRUNCATED), "INCONCLUSIVE"),
        (with_arguments('{"orderId": 43', gap=GapKind.TRUNCATED), "INCONCLUSIVE"),
        (with_arguments('["orderId", "o_43", ', gap=GapKind.TRUNCATED), "INCONCLUSIVE"),
        (with_arguments('{"orderId": "o_43", "no', gap=GapKind.INCOMPLETE), "INCONCLUSIVE"),
        (with_arguments(None, gap=GapKind.NOT_CAPTURED), "INCONCLUSIVE"),
        (with_arguments({"orderId": "o_43", "card": "x"}, gap=GapKind.REDACTED), "PASS"),
        (with_arguments({"orderId": "[REDACTED]"}, gap=GapKind.REDACTED), "INCONCLUSIVE"),
        (with_arguments({"orderId": "[REDACTED:order]"}), "INCONCLUSIVE"),
        (with_arguments({"orderId": "****"}), "INCONCLUSIVE"),
        (with_arguments({"orderId": ["***REDACTED***"]}), "INCONCLUSIVE"),
        (with_arguments({"orderId": "**o_42**"}), "FAIL"),
        (with_arguments("****"), "INCONCLUSIVE"),
        (with_arguments("[REDACTED_EMAIL]"), "INCONCLUSIVE"),
        (with_arguments({"orderId": "[HIDDEN]"}), "INCONCLUSIVE"),
        (with_arguments("o_42"), "FAIL"),
        (with_arguments({"orderId": "o_43"}, gap=GapKind.INCOMPLETE), "INCONCLUSIVE"),
        (interaction(tool_calls=["other"], gaps=(Gap(field="tool_calls", kind=GapKind.DROPPED),)), "INCONCLUSIVE"),
        (interaction(tool_calls=[tool_call("getOrder", {"orderId": "o_4"})],
                     gaps=(Gap(field="tool_calls[0].arguments", kind=GapKind.TRUNCATED),)), "INCONCLUSIVE"),
    ],
)  # fmt: skip
async def test_arguments_in_part(judged: Interaction, word: str, context: EvaluationContext) -> None:
    """A value that could be the beginning of a longer one, or that is hidden, decides nothing; one that is whole does."""
    assert (await run(wants("o_43"), judged, context)).word == word


async def test_a_marker_that_is_sought_itself_is_found(context: EvaluationContext) -> None:
    """Who asks for the marker, to see that a tool gets redacted text, finds it."""
    judged = with_arguments({"orderId": "[REDACTED:order]"})
    assert (await run(wants("[REDACTED:order]"), judged, context)).word == "PASS"


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, object(), {"a": {2}}])
def test_a_value_that_no_telemetry_can_carry_is_refused(value: Any) -> None:
    """What is no JSON value could never be equal to an argument."""
    with pytest.raises(EvaluatorDefinitionError, match=r"should_call_tool_with: value: .* JSON"):
        wants(value)


@pytest.mark.parametrize(
    ("text", "results", "said"),
    [
        ("DELIVERED", [{"status": "delivered"}], "PASS tool-results: getOrder result contains DELIVERED"),
        ('"status": "delivered"', [{"status": "delivered"}], 'PASS tool-results: getOrder result contains "status": "delivered"'),
        ('"status":"delivered"', [{"status": "delivered"}], 'PASS tool-results: getOrder result contains "status":"delivered"'),
        ('a "quoted" line', [{"note": 'a "quoted" line'}], 'PASS tool-results: getOrder result contains a "quoted" line'),
        ("49.99", [{"total": 49.99}], 'PASS tool-results: getOrder result contains "49.99"'),
        ("straße", ["STRASSE 1"], "PASS tool-results: getOrder result contains straße"),
        ("paid", ["open", {"a": 1}], 'FAIL tool-results: getOrder result expected to contain paid, was [open, {"a":1}]'),
        ("paid", [""], 'FAIL tool-results: getOrder result expected to contain paid, was [""]'),
        ("paid", [None], "INCONCLUSIVE tool-results: getOrder gave no result"),
        ("paid", [], "INCONCLUSIVE tool-results: getOrder was never called"),
    ],
)  # fmt: skip
async def test_results_are_searched(text: str, results: list[Any], said: str, context: EvaluationContext) -> None:
    """Ignoring case, in the JSON however it is spaced, and in the texts within it."""
    outcome = await run(tool_result_should_contain("getOrder", text), with_results(*results), context)
    assert describe("tool-results", outcome) == said


@pytest.mark.parametrize(
    ("judged", "word"),
    [
        (with_results("it was paid in f", gap=GapKind.TRUNCATED), "PASS"),
        (with_results("it was pai", gap=GapKind.TRUNCATED), "INCONCLUSIVE"),
        (with_results(None, gap=GapKind.NOT_CAPTURED), "INCONCLUSIVE"),
        (with_results("it was [REDACTED]"), "INCONCLUSIVE"),
        (with_results("[REDACTED:paid]"), "INCONCLUSIVE"),
        (with_results({"by": "****"}), "INCONCLUSIVE"),
        (with_results("paid by [REDACTED:email]"), "PASS"),
    ],
)
async def test_results_in_part(judged: Interaction, word: str, context: EvaluationContext) -> None:
    """What is found in a part is found; what is not may be in the rest. The words of a marker are not the result's."""
    assert (await run(tool_result_should_contain("getOrder", "paid"), judged, context)).word == word


async def test_the_brackets_that_close_a_cut_result_are_not_evidence(context: EvaluationContext) -> None:
    """A result cut in the middle of a number and closed for reading does not end there."""
    evaluator = tool_result_should_contain("getOrder", '"cents":49}')
    assert (await run(evaluator, with_results({"cents": 49}), context)).word == "PASS"
    assert (await run(evaluator, with_results({"cents": 49}, gap=GapKind.TRUNCATED), context)).word == "INCONCLUSIVE"


async def test_a_whole_result_counts_to_its_end_beside_one_that_was_cut(context: EvaluationContext) -> None:
    """What is not known of one result is no reason to doubt the brackets of another."""
    cut = with_results('{"cents": 1', gap=GapKind.TRUNCATED).tool_calls
    judged = interaction(tool_calls=[*cut, *with_results({"cents": 49}).tool_calls])
    assert (await run(tool_result_should_contain("getOrder", '"cents":49}'), judged, context)).word == "PASS"


async def test_a_tool_that_only_failed_gave_no_result(context: EvaluationContext) -> None:
    """The failure is what no-tool-errors reports; here it is inconclusive, in so many words."""
    judged = interaction(tool_calls=[ToolCall(name="getOrder", error="Timeout: slow")])
    outcome = await run(tool_result_should_contain("getOrder", "paid"), judged, context)
    assert outcome == Inconclusive("getOrder gave no result: it failed: Timeout: slow", Cause.DEPENDS_ON_OTHER_CHECK)
