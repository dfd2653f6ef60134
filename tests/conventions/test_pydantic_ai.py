"""pydantic-ai's own spans."""

from __future__ import annotations

import json

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.reading.failures import error_in_result
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, SpanEvent
from otel_eval.testing.spans import span


@pytest.mark.parametrize(
    ("message", "error"),
    [("", "no such order"), ("told", "pydantic_ai.exceptions.ToolRetryError: told")],
)
def test_a_tool_that_is_to_be_tried_again(message: str, error: str) -> None:
    """Until 1.30 the exception has no text: what the model is told has it."""
    attributes = {
        "gen_ai.tool.name": "find",
        "tool_response": "no such order\n\nFix the errors and try again.",
    }
    raised = SpanEvent(
        "exception",
        attributes={"exception.type": "pydantic_ai.exceptions.ToolRetryError", "exception.message": message},
    )
    found = facts_of(
        span(
            "running tool",
            attributes=attributes,
            events=(raised,),
            status="error",
            status_message=f"ToolRetryError: {message}",
            scope=Scope("pydantic-ai"),
        )
    )
    assert found is not None
    assert found.error == error


def test_a_run_starts_with_the_request_that_its_index_counts() -> None:
    """A request with a system prompt is written as two messages, and counted once."""
    call = {"type": "tool_call", "id": "c1", "name": "look", "arguments": "{}"}
    given = {"type": "tool_call_response", "id": "c1", "name": "look", "result": "blue"}
    messages = [
        ("system", {"type": "text", "content": "You help."}),
        ("user", {"type": "text", "content": "Yes"}),
        ("assistant", call),
        ("user", given),
        ("assistant", {"type": "text", "content": "Noted."}),
        ("user", {"type": "text", "content": "Yes"}),
        ("assistant", {"type": "text", "content": "Done."}),
    ]
    agent = span(
        "invoke_agent helper",
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "pydantic_ai.all_messages": json.dumps([{"role": role, "parts": [part]} for role, part in messages]),
            "pydantic_ai.new_message_index": 4,
            "final_result": "Done.",
        },
        scope=Scope("pydantic-ai"),
    )
    (found,) = assemble([agent])
    assert (found.asked, found.reply, found.tool_calls) == ("Yes", "Done.", ())
    assert [message.text for message in found.history] == ["Yes", None, None, "Noted."]


def test_a_tool_that_does_not_exist_is_an_error() -> None:
    text = "Unknown tool name: 'rol'. Available tools: 'roll'"
    assert error_in_result(text) == text
    assert error_in_result(f"The log says: {text}") is None


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ('{"output_tools":[{"name":"answer"}]}', ("answer",)),
        ('{"output_tools":[]}', ()),
        ('{"function_tools":[{"name":"get_or', ("final_result",)),
    ],
)
def test_the_tools_that_hand_over_the_answer(parameters: str, names: tuple[str, ...]) -> None:
    """Where a length limit cut the request's parameters, the one that pydantic-ai names."""
    attributes = {"gen_ai.operation.name": "chat", "model_request_parameters": parameters}
    found = facts_of(span("chat m", attributes=attributes, scope=Scope("pydantic-ai")))
    assert found is not None
    assert found.pseudo_tools == names


@pytest.mark.parametrize(("key", "waits"), [("approvals", True), ("calls", True), ("orders", False)])
def test_requests_that_wait_for_a_user_are_no_reply(key: str, waits: bool) -> None:
    """``DeferredToolRequests``: calls of the last message which the program is to make, or a user to approve."""
    asks = {"type": "tool_call", "id": "c1", "name": "delete", "arguments": '{"id": 1}'}
    given = {"calls": [], "approvals": [], key: [{"tool_name": "delete", "tool_call_id": "c1"}]}
    if not waits:
        given["approvals"] = [{"tool_call_id": "c7"}]  # an object of the program's own
    messages = [("user", {"type": "text", "content": "Delete it."}), ("assistant", asks)]
    agent = span(
        "invoke_agent helper",
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "pydantic_ai.all_messages": json.dumps([{"role": role, "parts": [part]} for role, part in messages]),
            "final_result": json.dumps(given),
        },
        scope=Scope("pydantic-ai"),
    )
    (found,) = assemble([agent])
    assert found.reply == (None if waits else json.dumps(given))
    assert [call.name for call in found.tool_calls] == ["delete"]


def test_the_tool_that_handed_over_the_answer_is_known_by_its_result() -> None:
    """Which tools do is told by the model's span, which may be lost."""
    asks = {"type": "tool_call", "id": "c1", "name": "Order", "arguments": '{"id": 9}'}
    given = {"type": "tool_call_response", "id": "c1", "name": "Order", "result": "Final result processed."}
    messages = [("user", {"type": "text", "content": "Describe it."}), ("assistant", asks), ("user", given)]
    agent = span(
        "invoke_agent helper",
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "pydantic_ai.all_messages": json.dumps([{"role": role, "parts": [part]} for role, part in messages]),
            "final_result": '{"id": 9}',
        },
        scope=Scope("pydantic-ai"),
    )
    (found,) = assemble([agent])
    assert (found.reply, found.tool_calls) == ('{"id": 9}', ())


def test_a_run_that_begins_with_the_result_of_a_call_made_elsewhere() -> None:
    """The call is one of the run that was given its result, though the run before asked for it."""
    call = {"type": "tool_call", "id": "c1", "name": "ship", "arguments": '{"order": 9}'}
    given = {"type": "tool_call_response", "id": "c1", "name": "ship", "result": "shipped"}
    messages = [
        ("user", {"type": "text", "content": "Ship it."}),
        ("assistant", call),
        ("user", given),
        ("assistant", {"type": "text", "content": "Shipped."}),
    ]
    told = [{"role": role, "parts": [part]} for role, part in messages]
    agent = span(
        "invoke_agent helper",
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "pydantic_ai.all_messages": json.dumps(told),
            "pydantic_ai.new_message_index": 2,
            "final_result": "Shipped.",
        },
        scope=Scope("pydantic-ai"),
    )
    model = span(
        "chat m",
        parent=agent,
        attributes={"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(told[:3])},
        scope=Scope("pydantic-ai"),
    )
    (found,) = assemble([agent, model])
    assert (found.asked, found.reply) == ("Ship it.", "Shipped.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("ship", {"order": 9}, "shipped")
    ]


EVALS = Scope("pydantic-evals")


def test_an_experiments_runs_are_interactions_and_its_judges_are_none() -> None:
    """The frames are ordinary spans, though the operation of the outermost is ``experiment``."""
    outer = span("evaluate {name}", attributes={"gen_ai.operation.name": "experiment"}, scope=EVALS)
    case = span("case: {case_name}", parent=outer, attributes={"inputs": "Hi", "output": "Hello."}, scope=EVALS)
    task = span("execute {task}", parent=case, scope=EVALS)
    judging = span("evaluator: {evaluator_name}", parent=case, scope=EVALS)
    run = {"gen_ai.operation.name": "invoke_agent", "final_result": "Hello."}
    helper = span(
        "invoke_agent helper", parent=task, attributes=run | {"gen_ai.agent.name": "helper"}, scope=Scope("pydantic-ai")
    )
    judge = span(
        "invoke_agent mine", parent=judging, attributes=run | {"gen_ai.agent.name": "mine"}, scope=Scope("pydantic-ai")
    )
    (found,) = assemble([outer, case, task, judging, helper, judge])
    assert (found.agent, found.reply, found.parent_id) == ("helper", "Hello.", None)


def test_a_judge_of_pydantic_evals_outside_an_experiments_spans() -> None:
    """Without Logfire nothing else tells that it judges."""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "judge_output"}
    assert assemble([span("invoke_agent judge_output", attributes=attributes, scope=Scope("pydantic-ai"))]) == ()


def test_a_name_that_is_no_text_names_no_judge() -> None:
    """An attribute may hold anything."""
    assert facts_of(span("chat m", attributes={"gen_ai.agent.name": []}, scope=Scope("pydantic-ai"))) is None
