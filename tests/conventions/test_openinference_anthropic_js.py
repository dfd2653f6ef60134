"""Anthropic's client in JavaScript under OpenInference: the request tells what its flattened messages lose."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Span
from otel_eval.testing.spans import START_NS, span


def call(started_ns: int, request: dict[str, Any], flattened: dict[str, str]) -> Span:
    """A model's call that is a trace of its own."""
    flat = {f"llm.{key}": value for key, value in flattened.items()}
    own = {"openinference.span.kind": "LLM", "input.value": json.dumps(request), **flat}
    return span("Anthropic Messages", attributes=own, started_ns=started_ns)


def test_all_results_of_tools_in_one_message_are_read() -> None:
    """The flattened message has the last of them alone, and does not tell that one is an error."""
    asked = {"role": "user", "content": "Where are 81 and 82?"}
    uses = [{"type": "tool_use", "id": f"c{n}", "name": "find", "input": {"id": n}} for n in (81, 82)]
    results = [
        {"type": "tool_result", "tool_use_id": "c81", "content": "in Rome"},
        {"type": "tool_result", "tool_use_id": "c82", "content": "no route", "is_error": True},
    ]
    messages = [asked, {"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    user = {"input_messages.0.message.role": "user", "input_messages.0.message.content": asked["content"]}
    called = {
        f"output_messages.0.message.tool_calls.{at}.tool_call.{key}": value
        for at, use in enumerate(uses)
        for key, value in (
            ("id", str(use["id"])),
            ("function.name", "find"),
            ("function.arguments", json.dumps(use["input"])),
        )
    }
    last = {
        "input_messages.1.message.role": "user",
        "input_messages.1.message.tool_call_id": "c82",
        "input_messages.1.message.content": "no route",
        "output_messages.0.message.role": "assistant",
        "output_messages.0.message.content": "81 is in Rome.",
    }
    (found,) = assemble(
        [
            call(START_NS, {"messages": [asked]}, {**user, "output_messages.0.message.role": "assistant", **called}),
            call(START_NS + 1, {"messages": messages, "system": "Be kind."}, {**user, **last}),
        ]
    )
    assert (found.asked, found.reply) == ("Where are 81 and 82?", "81 is in Rome.")
    assert [(tool.result, tool.error) for tool in found.tool_calls] == [("in Rome", None), (None, "no route")]
