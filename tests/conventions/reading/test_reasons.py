"""Why a model stopped, in the words of many SDKs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.reading.reasons import asks_for_tools
from otel_eval.testing.spans import log_record, span


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


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
SAID = {"role": "assistant", "parts": [{"type": "text", "content": "Let me look."}]}


@pytest.mark.parametrize(
    ("attributes", "reasons"),
    [
        ({"gen_ai.output.messages": json.dumps([{**SAID, "finish_reason": "tool_call"}])}, ("tool_call",)),
        ({"gen_ai.output.messages": [{**SAID, "finish_reason": "stop"}, SAID]}, ("stop",)),
        (
            {
                "gen_ai.output.messages": json.dumps([{**SAID, "finish_reason": "length"}]),
                "gen_ai.response.finish_reasons": ["stop"],
            },
            ("stop",),
        ),
        ({"gen_ai.output.messages": json.dumps([{**SAID, "finish_reason": None}])}, ()),
        (
            {
                "gen_ai.completion.0.content": "Let me look.",
                "gen_ai.completion.0.finish_reason": "tool_calls",
                "gen_ai.completion.1.finish_reason": "stop",
            },
            ("tool_calls", "stop"),
        ),
    ],
)
def test_reasons_that_stand_in_messages_alone(attributes: dict[str, Any], reasons: tuple[str, ...]) -> None:
    (found,) = assemble([span("chat m", attributes={**CHAT, **attributes})])
    assert found.model_calls[0].finish_reasons == reasons


def test_a_word_before_tools_is_no_reply_though_the_request_is_lost() -> None:
    """The message that says why the model stopped has its words, and of the tool that it wanted nothing is written."""
    said = json.dumps([{**SAID, "finish_reason": "tool_call"}])
    (found,) = assemble([span("chat m", attributes={**CHAT, "gen_ai.output.messages": said})])
    assert found.reply is None
    assert found.gap("reply") is not None


def test_reasons_in_a_record_of_the_call() -> None:
    chat = span("chat m", attributes=CHAT)
    record = log_record(
        "gen_ai.client.inference.operation.details",
        span=chat,
        attributes={"gen_ai.output.messages": [{**SAID, "finish_reason": "stop"}]},
    )
    (found,) = assemble([chat], [record])
    assert found.model_calls[0].finish_reasons == ("stop",)
