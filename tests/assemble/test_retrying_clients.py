"""Instructor's create around the calls that it makes: one, or more where the object did not validate."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Span
from otel_eval.testing.spans import span

OBJECT = '{"order_id": "o_9", "cents": 4999}'


def create(shape: str = "Order") -> Span:
    """Instructor's own span."""
    return span(
        "instructor.async_create",
        attributes={
            "openinference.span.kind": "CHAIN",
            "instructor.response_model": shape,
            "llm.model_name": "gpt-4o-mini",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Describe the order.",
            "output.value": OBJECT,
        },
    )


def asking(above: Span, arguments: str, *messages: dict[str, Any]) -> Span:
    """The client's call: the object is asked for as a call of a tool."""
    call_id = f"call_{len(messages)}"
    call = {"id": call_id, "type": "function", "function": {"name": "Order", "arguments": arguments}}
    return span(
        "ChatCompletion",
        parent=above,
        attributes={
            "openinference.span.kind": "LLM",
            "llm.model_name": "gpt-4o-mini",
            "llm.finish_reason": "tool_calls",
            "llm.token_count.prompt": 12,
            "llm.token_count.completion": 5,
            "input.value": json.dumps({"messages": [{"role": "user", "content": "Describe the order."}, *messages]}),
            "output.value": json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]}),
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": call_id,
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "Order",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": arguments,
        },
    )


def test_the_object_is_the_reply_and_no_tool_was_called() -> None:
    """One call below, whose finish reason says that a tool was asked for."""
    made = create()
    [found] = assemble([made, asking(made, OBJECT)])
    assert (found.agent, found.asked, found.reply) == (None, "Describe the order.", OBJECT)
    assert (found.tool_calls, len(found.model_calls), found.usage.input_tokens) == ((), 1, 12)


def test_the_tool_need_not_have_the_name_that_instructor_tells() -> None:
    """A list's is ``IterableOrder``."""
    made = create("list")
    [found] = assemble([made, asking(made, OBJECT)])
    assert (found.reply, found.tool_calls) == (OBJECT, ())


def test_an_object_that_did_not_validate_is_asked_for_again() -> None:
    """Both calls count; what was wrong with the first is no result of a tool."""
    made = create()
    wrong = '{"order_id": "o_9", "cents": "many"}'
    said = {"id": "call_0", "type": "function", "function": {"name": "Order", "arguments": wrong}}
    again = (
        {"role": "assistant", "content": "", "tool_calls": [said]},
        {"role": "tool", "tool_call_id": "call_0", "content": "Validation Error found: cents"},
    )
    [found] = assemble([made, asking(made, wrong), asking(made, OBJECT, *again)])
    assert (found.agent, found.asked, found.reply) == (None, "Describe the order.", OBJECT)
    assert (found.tool_calls, len(found.model_calls), found.usage.input_tokens) == ((), 2, 24)
