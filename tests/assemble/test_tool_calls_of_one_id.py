"""A call that its span and the model's messages tell differently: it is one, and of the two values the whole one counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import Interaction
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import START_NS, agent_span, message, model_span, tool_span

ARGUMENTS = {"order_id": "o_9", "reason": "arrived broken"}
RESULT = {"status": "delivered", "total_cents": 4999}
LATER = 1_000_000


def run(spans: list[dict[str, Any]], calls: list[dict[str, Any]], results: list[Any] | None = None) -> Interaction:
    """An agent's run: the tools that spans tell, and those that the model asked for, with what it was shown of each."""
    root = agent_span()
    asked = [message("user", "Where is my order?")]
    requests = [{"type": "tool_call", **call} for call in calls]
    shown = [
        message("tool", {"type": "tool_call_response", "id": call["id"], "response": result})
        for call, result in zip(calls, results or [RESULT] * len(calls), strict=True)
    ]
    history = [*asked, message("assistant", *requests), *shown]
    whole: list[Span] = [
        root,
        model_span(parent=root, messages=asked, output=[message("assistant", *requests)]),
        *(tool_span(**{"parent": root, "started_ns": root.started_ns + LATER, **tool}) for tool in spans),
        model_span(
            parent=root,
            messages=history,
            output=[message("assistant", "It was delivered yesterday.")],
            started_ns=root.started_ns + 3 * LATER,
        ),
    ]
    (found,) = assemble(whole)
    return found


@pytest.mark.parametrize(
    "call_id", ["call_9dK2mQx81LbTz0", "toolu_01A09q90qw90lq917835lq9", "7d3f0f0e-12ab-4c1d-9f00-1b2c3d4e5f60"]
)
def test_a_random_id_is_one_calls_whatever_its_names(call_id: str) -> None:
    """A span may have the function's name, the model the one under which the tool was offered."""
    found = run(
        [{"name": "lookup_impl", "arguments": {"id": 9}, "result": RESULT, "call_id": call_id}],
        [{"id": call_id, "name": "get_order", "arguments": ARGUMENTS}],
    )
    assert [call.name for call in found.tool_calls] == ["get_order"]


def test_of_another_id_the_arguments_decide() -> None:
    found = run(
        [{"name": "lookup_impl", "arguments": ARGUMENTS, "result": RESULT, "call_id": "1"}],
        [{"id": "1", "name": "get_order", "arguments": ARGUMENTS}],
    )
    assert [call.name for call in found.tool_calls] == ["get_order"]


@pytest.mark.parametrize("arguments", [{}, {"order_id": "o_8"}])
def test_an_id_that_comes_again_is_another_call(arguments: dict[str, Any]) -> None:
    """Some number the calls of each answer: the span is that of a call whose request is lost."""
    found = run(
        [{"name": "refund", "arguments": arguments, "result": RESULT, "call_id": "1"}],
        [{"id": "1", "name": "get_order", "arguments": ARGUMENTS if arguments else {}}],
    )
    assert sorted(call.name for call in found.tool_calls) == ["get_order", "refund"]


def test_names_go_before_arguments() -> None:
    """Two tools given the same under one number, told in another order than they were asked for."""
    ids = {"arguments": ARGUMENTS, "call_id": "1", "seconds": 0.001}
    found = run(
        [
            {"name": "refund", "result": "r", **ids},
            {"name": "get_order", "result": "o", **ids, "started_ns": START_NS + 2_000_000},
        ],
        [
            {"id": "1", "name": "get_order", "arguments": ARGUMENTS},
            {"id": "1", "name": "refund", "arguments": ARGUMENTS},
        ],
        ["o", "r"],
    )
    assert [(call.name, call.result) for call in found.tool_calls] == [("get_order", "o"), ("refund", "r")]


def test_what_is_whole_in_the_models_call_is_no_gap() -> None:
    cut = json.dumps(ARGUMENTS)[:20]
    found = run(
        [{"name": "get_order", "call_id": "1", "attributes": {"gen_ai.tool.call.arguments": cut}, "result": RESULT}],
        [{"id": "1", "name": "get_order", "arguments": ARGUMENTS}],
    )
    assert found.tool_calls[0].arguments == ARGUMENTS
    assert found.tool_calls[0].gaps == ()


@pytest.mark.parametrize("kept", [json.dumps(RESULT)[:24], json.dumps(RESULT)[:24] + "...[truncated]"])
def test_a_result_that_the_model_was_shown_whole_is_no_gap(kept: str) -> None:
    found = run(
        [
            {
                "name": "get_order",
                "call_id": "1",
                "arguments": ARGUMENTS,
                "attributes": {"gen_ai.tool.call.result": kept},
            }
        ],
        [{"id": "1", "name": "get_order", "arguments": ARGUMENTS}],
    )
    assert found.tool_calls[0].result == RESULT
    assert found.tool_calls[0].gaps == ()


def test_what_the_model_was_shown_instead_does_not_take_the_place_of_a_cut_result() -> None:
    """A framework may show its model another text than the tool gave."""
    found = run(
        [{"name": "get_order", "call_id": "1", "attributes": {"gen_ai.tool.call.result": '{"status": "deliv'}}],
        [{"id": "1", "name": "get_order", "arguments": ARGUMENTS}],
        ["The order was delivered"],
    )
    assert found.tool_calls[0].result == '{"status": "deliv'
    assert [(gap.field, gap.kind.value) for gap in found.tool_calls[0].gaps] == [("result", "truncated")]


def beside(**fields: Any) -> Interaction:
    """A run whose one model call another instrumentation wrote as well, beside it, without its answer."""
    root = agent_span()
    asked = [message("user", "Where is my order?")]
    chat = model_span(parent=root, messages=asked, output=[message("assistant", "It was delivered yesterday.")])
    start = fields.pop("started_ns", chat.started_ns + LATER)
    own = {"messages": asked, "seconds": 0.5, "started_ns": start, "scope": Scope("openai.client"), **fields}
    (found,) = assemble([root, chat, model_span(parent=root, **own)])
    return found


def test_a_call_whose_answer_one_of_two_does_not_tell_counts_once() -> None:
    found = beside()
    assert (len(found.model_calls), found.usage.input_tokens) == (1, 100)


@pytest.mark.parametrize(
    "fields",
    [
        {"input_tokens": 101},
        {"seconds": 5.0},
        {"messages": [message("user", "Who are you?")]},
        {"scope": None},
        {"output": [message("assistant", "Who knows.")]},
    ],
)
def test_another_call_at_the_same_time_counts_too(fields: dict[str, Any]) -> None:
    """It used another number of tokens, outlasted the first, was asked or answered something else, or one tracer wrote both."""
    if fields.get("scope", 1) is None:
        fields = {"scope": agent_span().scope}
    assert len(beside(**fields).model_calls) == 2


def test_a_failed_call_of_which_one_of_two_tells_its_failure_alone_counts_once() -> None:
    root = agent_span(reply=None)
    asked = [message("user", "Where is my order?")]
    told = model_span(parent=root, messages=asked, failure="HTTP 500", input_tokens=None, output_tokens=None)
    bare = model_span(
        parent=root, failure="api_error", input_tokens=None, output_tokens=None, seconds=0.5,
        started_ns=told.started_ns + LATER, scope=Scope("openai.client"),
    )  # fmt: skip
    (found,) = assemble([root, told, bare])
    assert len(found.model_calls) == 1


def test_what_nothing_ties_is_another_call_in_another_trace() -> None:
    """Live, the two would not meet."""
    asked = [message("user", "Where is my order?")]
    chat = model_span(messages=asked, output=[message("assistant", "It was delivered yesterday.")])
    other = model_span(seconds=0.5, started_ns=chat.started_ns + LATER, scope=Scope("openai.client"))
    assert len(assemble([chat, other])) == 2
