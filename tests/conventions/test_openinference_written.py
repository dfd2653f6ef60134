"""OpenInference as its specification shows it, by people who write it themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import Interaction
from otel_eval.testing.spans import span

SHOWN = [
    {"message.role": "user", "message.content": "what is 23 times 87"},
    {
        "message.role": "assistant",
        "message.content": None,
        "message.tool_calls": [{"tool_call.function.name": "multiply", "tool_call.function.arguments": '{"a": 23}'}],
    },
    {"message.role": "tool", "message.content": "2001", "message.name": "multiply"},
]


def turn(**attributes: Any) -> Interaction:
    """An agent that called one model."""
    agent = span("agent", attributes={"openinference.span.kind": "AGENT", "agent.name": "bard"})
    kind = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
    (found,) = assemble([agent, span("llm", parent=agent, attributes={**kind, **attributes}, seconds=0.5)], [])
    return found


@pytest.mark.parametrize("write", [json.dumps, list])
def test_messages_may_be_left_as_the_list_that_they_are_shown_as(write: Any) -> None:
    """Not flattened: the example of ``llm_spans.md`` as it stands, in JSON or as a structure."""
    said = [{"message.role": "assistant", "message.content": "It is 2001."}]
    found = turn(**{"llm.input_messages": write(SHOWN), "llm.output_messages": write(said)})
    assert (found.asked, found.reply) == ("what is 23 times 87", "It is 2001.")


def test_images_and_recordings_are_read_through_both_wrappings() -> None:
    """``message_content.image`` of ``image.url``, and what was said in the recording."""
    start = "llm.input_messages.0.message.contents"
    found = turn(
        **{
            "llm.input_messages.0.message.role": "user",
            f"{start}.0.message_content.type": "image",
            f"{start}.0.message_content.image.image.url": "https://shop.example/mug.png",
            f"{start}.1.message_content.type": "audio",
            f"{start}.1.message_content.audio.audio.url": "https://shop.example/q.wav",
            f"{start}.1.message_content.audio.audio.mime_type": "audio/wav",
            f"{start}.1.message_content.audio.audio.transcript": "What is it?",
        }
    )
    assert found.asked == "What is it?"
    assert [(each.modality, each.mime_type, each.name) for each in found.attachments] == [
        ("image", None, "https://shop.example/mug.png"),
        ("audio", "audio/wav", "https://shop.example/q.wav"),
    ]


def test_a_tools_span_may_name_it_as_messages_do() -> None:
    """``tool_call.function.name`` and its arguments, without ``tool.name`` and ``input.value``."""
    agent = span("agent", attributes={"openinference.span.kind": "AGENT", "agent.name": "bard"})
    attributes = {
        "openinference.span.kind": "TOOL",
        "tool_call.id": "c1",
        "tool_call.function.name": "multiply",
        "tool_call.function.arguments": '{"a": 23}',
        "output.value": "2001",
    }
    (found,) = assemble([agent, span("run tool", parent=agent, attributes=attributes, seconds=0.5)], [])
    (call,) = found.tool_calls
    assert (call.name, call.arguments, call.result, call.call_id) == ("multiply", {"a": 23}, "2001", "c1")
