"""Strands' spans, whose content is in span events."""

from __future__ import annotations

import json

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import span

SCOPE = Scope("strands.telemetry.tracer")


def tool(name: str, description: str, given: str, parent: Span | None = None) -> Span:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.description": description,
        "gen_ai.tool.status": "success",
    }
    said = {"message": json.dumps([{"text": given}]), "id": "c1"}
    return span(
        f"execute_tool {name}",
        attributes=attributes,
        events=(SpanEvent("gen_ai.choice", attributes=said),),
        scope=SCOPE,
        parent=parent,
    )


def test_an_error_object_in_a_block_of_text_is_an_error() -> None:
    found = facts_of(tool("find_order", "Find an order.", '{"error": "no such order o_404"}'))
    assert found is not None
    assert found.error == "no such order o_404"


def test_a_text_that_talks_of_errors_is_none() -> None:
    found = facts_of(tool("search_logs", "Search.", "2 entries: ERROR worker; Exception in thread worker was handled"))
    assert found is not None
    assert found.error is None


def test_an_object_that_was_asked_for_is_the_reply_and_the_tool_that_hands_it_over_no_call() -> None:
    described = (
        "IMPORTANT: This StructuredOutputTool should only be invoked as the last and final tool before returning"
    )
    order = '{"order_id":"o_9","cents":4999}'
    agent = span(
        "invoke_agent helper",
        attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"},
        events=(
            SpanEvent("gen_ai.user.message", attributes={"content": '[{"text": "Describe the order."}]'}),
            SpanEvent("gen_ai.choice", attributes={"message": order, "finish_reason": "tool_use"}),
        ),
        scope=SCOPE,
    )
    done = tool("Order", described, "Successfully validated Order structured output", parent=agent)
    (found,) = assemble([agent, done])
    assert (found.reply, found.tool_calls) == (order, ())


@pytest.mark.parametrize("event", [None, "gen_ai.client.inference.operation.details", "gen_ai.choice"])
def test_what_a_human_is_asked_for_is_no_reply(event: str | None) -> None:
    """It stands in an attribute, or in an event of one of two kinds."""
    asked = "[{'id': 'v1', 'reason': 'sure?'}]"
    asks = {"role": "assistant", "parts": [{"type": "text", "content": asked}]}
    said: dict[str, str] = {"gen_ai.output.messages": json.dumps([{**asks, "finish_reason": "interrupt"}])}
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "helper",
        **({} if event else said),
    }
    if event == "gen_ai.choice":
        said = {"message": asked, "finish_reason": "interrupt"}
    events = () if event is None else (SpanEvent(event, attributes=said),)
    found = facts_of(span("invoke_agent helper", attributes=attributes, events=events, scope=SCOPE))
    assert found is not None
    assert found.output is None
