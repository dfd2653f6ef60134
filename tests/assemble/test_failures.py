"""What failed, a tool or the whole run; and what merely talks of errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.testing.spans import (
    Tool,
    agent_span,
    conversation,
    message,
    model_span,
    span,
    tool_span,
)
from tests.assemble.kit import later, only


def test_an_error_object_in_the_conversation_is_the_error_of_a_silent_tools_span() -> None:
    """A span that says nothing of the call takes its result from the messages, and what that is."""
    asks = message("assistant", {"type": "tool_call", "id": "c1", "name": "find", "arguments": {}})
    gave = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"error": "down"}}]}
    root = agent_span(asked="hi", reply="Sorry.")
    calls = [
        model_span(parent=root, messages=[message("user", "hi")], output=[asks]),
        model_span(parent=root, messages=[message("user", "hi"), asks, gave], output=[message("assistant", "Sorry.")]),
    ]
    silent = span("execute_tool find", parent=root, attributes={"gen_ai.operation.name": "execute_tool"})
    (tool,) = only([root, *calls, silent]).tool_calls
    assert (tool.error, tool.result, tool.span_id) == ("down", None, silent.span_id)


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"isError": True, "content": [{"type": "text", "text": "down"}]}, "down"),
        ({"status": "error", "content": "down"}, "down"),
        ({"error": "down"}, "down"),
        ("An error occurred while running the tool. Please try again. Error: down", "An error occurred"),
        ({"error": None, "rows": []}, None),
        ({"errors": 3, "log": "Error: disk full"}, None),
        ({"error": "E42", "meaning": "disk full", "rows": 1}, None),
        ("The report lists three errors. Error: disk full.", None),
        ("Error handling is described in chapter 4", None),
    ],
)
def test_a_tools_error_is_seen_in_every_disguise_and_nowhere_else(result: Any, error: str | None) -> None:
    """An error object or a framework's error sentence is a failure; a result that talks of errors is a result."""
    root = agent_span()
    (call,) = only([root, tool_span(result=result, parent=root)]).tool_calls
    if error is None:
        assert (call.error, call.result) == (None, result)
    else:
        assert call.error is not None
        assert error in call.error
        assert call.result is None


def test_what_a_hand_written_loop_tells_the_model_is_an_error() -> None:
    """Known from messages alone, ``ERROR: …`` is what the loop made of an exception."""
    found = only(
        s for s in conversation(tools=[Tool(name="t", error="ERROR: ticket system down")]) if "execute" not in s.name
    )
    assert [(call.error, call.result) for call in found.tool_calls] == [("ERROR: ticket system down", None)]


def test_an_exception_that_ended_the_run_is_the_unanswered_calls() -> None:
    """A loop that lets a tool's exception through: the one call without an answer raised it."""
    spans = conversation(tools=["t"], failure="boom")
    root, asking = replace(spans[0], attributes={**spans[0].attributes, "error.type": "RuntimeError"}), spans[1]
    found = only([root, asking])
    assert found.failed
    assert [call.error for call in found.tool_calls] == ["RuntimeError: boom"]


def test_a_failed_model_call_fails_the_run_unless_it_was_tried_again() -> None:
    """A root that is always OK fails with its last call; a retry that answered is no failure."""
    root = agent_span(asked=None, reply=None)
    asked = [message("user", "hi")]
    failed = model_span(parent=root, messages=asked, failure="500")
    again = model_span(parent=root, messages=asked, output=[message("assistant", "ok")], started_ns=later(root, 2))
    assert only([root, failed]).failure is not None
    found = only([root, failed, again])
    assert (found.failure, found.reply, len(found.model_calls)) == (None, "ok", 2)


def test_a_failure_without_words_has_those_of_the_last_model_call() -> None:
    """A status alone is all that some programs give an agent's span."""
    agent = agent_span(reply=None, status="error")
    (found,) = assemble((agent, model_span(parent=agent, failure="overloaded")))
    assert found.failure is not None
    assert found.failure.message == "overloaded"
    told = agent_span(reply=None, failure="too many rounds")
    (found,) = assemble((told, model_span(parent=told, failure="overloaded")))
    assert found.failure is not None
    assert found.failure.message == "too many rounds"


def test_an_interrupt_is_no_failure() -> None:
    """Frameworks steer with exceptions: a LangGraph interrupt waits for a human."""
    root = agent_span(reply=None, status="error", attributes={"error.type": "langgraph.errors.GraphInterrupt"})
    assert only([root]).failure is None


def test_an_error_given_back_as_the_reply_is_a_failure() -> None:
    """Some agents end well, and reply with the text of the error that the model's call failed with."""
    root = agent_span(asked="hi", reply="the model is down")
    failed = model_span(parent=root, failure="Error code: 500 - {'message': 'the model is down'}")
    found = only([root, failed])
    assert (found.reply, found.failure is not None) == (None, True)


def test_an_apology_after_a_failed_call_is_a_reply() -> None:
    """The agent has dealt with the failure."""
    root = agent_span(asked="hi", reply="Sorry, try later.")
    found = only([root, model_span(parent=root, failure="the model is down")])
    assert (found.reply, found.failure) == ("Sorry, try later.", None)
