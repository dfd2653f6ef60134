"""The OpenAI SDK for JavaScript under OpenInference: calls of a stream, run together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.conventions.reading.messages import calls_in
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope
from otel_eval.testing.spans import span

JAVASCRIPT = Scope("@arizeai/openinference-instrumentation-openai")
CALL = "llm.output_messages.0.message.tool_calls.0.tool_call."


def calls(name: str, arguments: str, call_id: str, offered: tuple[str, ...], scope: Scope = JAVASCRIPT) -> list[Any]:
    """The calls in the answer of a model's span, as name, arguments and id."""
    tools = [{"type": "function", "function": {"name": tool}} for tool in offered]
    told = {
        "openinference.span.kind": "LLM",
        "llm.invocation_parameters": json.dumps({"tools": tools}),
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Let me look.",
        CALL + "id": call_id,
        CALL + "function.name": name,
        CALL + "function.arguments": arguments,
    }
    facts = facts_of(span("OpenAI Chat Completions", attributes=told, scope=scope))
    assert facts is not None
    assert [message.text for message in facts.output or ()] == ["Let me look."]
    return [(call.name, call.arguments, call.call_id) for said in facts.output or () for call in calls_in(said)]


@pytest.mark.parametrize(
    ("name", "arguments", "call_id", "expected"),
    [
        ("rollroll", '{"n":6}{"n":8}', "call_1call_2", [("roll", {"n": 6}, "call_1"), ("roll", {"n": 8}, "call_2")]),
        ("rollflip", "{}{}", "call_1call_22", [("roll", {}, None), ("flip", {}, None)]),
        ("roll", '{"n":6}', "call_1", [("roll", {"n": 6}, "call_1")]),
    ],
)
def test_calls_that_were_run_together(name: str, arguments: str, call_id: str, expected: list[Any]) -> None:
    """They come apart by what was offered, with ids where these are of one length."""
    assert calls(name, arguments, call_id, ("roll", "flip")) == expected


def test_what_cannot_be_told_apart_stays() -> None:
    """Names that can be cut in two ways, names that nobody offered, and other instrumentations' spans."""
    together = [("aaa", '{"n":6}{"n":8}', "c1c2")]
    assert calls(*together[0], ("a", "aa")) == together
    assert calls(*together[0], ("b",)) == together
    assert calls(*together[0], ("a", "aa"), Scope("openinference.instrumentation.openai")) == together
