"""Why a model stopped, in the words of many SDKs."""

from __future__ import annotations

import pytest

from otel_eval.conventions.reading.reasons import asks_for_tools


@pytest.mark.parametrize(
    "reason",
    ["tool_calls", "tool_call", "TOOL_CALL", "tool_use", "tool-calls", "toolUse", "function_call", "TOOL_EXECUTION",
     "FinishReason.TOOL_CALLS"],
)  # fmt: skip
def test_a_model_that_wants_tools_called(reason: str) -> None:
    assert asks_for_tools(reason)


@pytest.mark.parametrize("reason", ["stop", "end_turn", "completed", "FinishReason.STOP", "error", "tool_error", ""])
def test_a_model_that_stopped_for_another_reason(reason: str) -> None:
    assert not asks_for_tools(reason)
