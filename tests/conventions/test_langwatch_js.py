"""LangWatch's callback for LangChain.js."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.conventions.facts import Facts
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope
from otel_eval.testing.spans import span

MESSAGE = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain_core", "messages", "ToolMessage"],
    "kwargs": {"status": "success", "content": '{"status":"sent"}', "tool_call_id": "c1", "name": "get_order"},
}


def tool(output: Any, **metadata: str) -> Facts:
    """The facts of a tool's span."""
    attributes = {
        "langwatch.span.type": "tool",
        "langwatch.input": json.dumps({"type": "text", "value": '{"id":"o_9"}'}),
        "langwatch.output": json.dumps(output),
        **{f"langwatch.langgraph.{key}": value for key, value in metadata.items()},
    }
    found = facts_of(span("get_order", scope=Scope("langwatch.instrumentation.langchain"), attributes=attributes))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("output", "result"),
    [
        ({"type": "json", "value": {"type": "text", "value": MESSAGE}}, {"status": "sent"}),
        ({"type": "json", "value": MESSAGE}, {"status": "sent"}),
        ({"type": "json", "value": {"type": "parcel", "value": 9}}, {"type": "parcel", "value": 9}),
    ],
)
def test_a_result_in_two_envelopes(output: Any, result: Any) -> None:
    """What only looks like an envelope is the tool's own."""
    found = tool(output)
    assert (found.tool, found.arguments, found.result) == ("get_order", {"id": "o_9"}, result)


@pytest.mark.parametrize("key", ["thread_id", "session_id"])
def test_the_session_stands_in_langchains_metadata(key: str) -> None:
    """As the program gave it to the graph."""
    assert tool({"type": "json", "value": MESSAGE}, **{key: "s1"}).session == "s1"
