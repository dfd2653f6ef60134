"""Response objects of models' clients, as they stand in attributes."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.conventions.reading.answers import answer_id, answer_messages, counted
from otel_eval.conventions.reading.messages import calls_in
from otel_eval.interaction import Usage

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 81}'}}


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": [{"message": {"role": "assistant", "content": "Here.", "tool_calls": [CALL]}}]},
        {
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Here."}]},
                {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"id": 81}'},
            ]
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Here."},
                {"type": "tool_use", "id": "c1", "name": "find", "input": {"id": 81}},
            ],
        },
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [{"text": "Here."}, {"functionCall": {"name": "find", "args": {"id": 81}}}],
                    }
                }
            ]
        },
        {
            "message": {
                "role": "model",
                "content": [{"text": "Here."}, {"toolRequest": {"name": "find", "ref": "c1", "input": {"id": 81}}}],
            },
            "finishReason": "stop",
        },
        {
            "generations": [
                [
                    {
                        "message": {
                            "type": "ai",
                            "content": "Here.",
                            "tool_calls": [{"name": "find", "args": {"id": 81}, "id": "c1"}],
                        }
                    }
                ]
            ]
        },
    ],
    ids=["openai-chat", "openai-responses", "anthropic", "gemini", "genkit", "langchain"],
)
def test_an_answer_with_a_text_and_a_call(answer: Any) -> None:
    """Whoever gave it: the text and the tool call are there."""
    messages = answer_messages(answer)
    assert [message.text for message in messages if message.text] == ["Here."]
    assert [(call.name, call.arguments) for message in messages for call in calls_in(message)] == [("find", {"id": 81})]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 4, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}},
            Usage(input_tokens=4, output_tokens=2, cache_read_tokens=1),
        ),
        (
            {"input_tokens": 4, "output_tokens": 2, "output_token_details": {"reasoning": 1}},
            Usage(input_tokens=4, output_tokens=2, reasoning_tokens=1),
        ),
        ({"inputTokens": 4, "outputTokens": 0, "totalTokens": 4}, Usage(input_tokens=4, output_tokens=0)),
        ({"input": 4, "output": 2, "total": 6}, Usage(input_tokens=4, output_tokens=2)),
        ({"prompt_tokens": None, "prompt_tokens_details": None}, Usage()),
        ("4", Usage()),
    ],
)
def test_token_counts(usage: Any, expected: Usage) -> None:
    """Under each provider's names, details included; what is not told stays None."""
    assert counted(usage) == expected


@pytest.mark.parametrize(("answer", "expected"), [({"id": "r1"}, "r1"), ({"id": ["x"]}, None), (["r1"], None)])
def test_response_ids(answer: Any, expected: str | None) -> None:
    """A text, or none."""
    assert answer_id(answer) == expected
