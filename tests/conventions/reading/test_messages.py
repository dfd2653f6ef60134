"""Messages of every framework's shape become the domain's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.conventions.reading.messages import read_message, read_messages
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.interaction import Attachment, Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart

ASKED = Message(role="user", parts=(TextPart(text="hi"),))
CALLED = Message(role="assistant", parts=(ToolCallPart(name="t", arguments={"a": 1}, call_id="c"),))
ANSWERED = Message(role="tool", parts=(ToolResultPart(call_id="c", result={"b": 2}),))
OF_USER = Message(role="user", parts=ANSWERED.parts)

SHAPES: dict[str, tuple[Any, Message]] = {
    "text": ("hi", ASKED),
    "otel": ({"role": "user", "parts": [{"type": "text", "content": "hi"}]}, ASKED),
    "openai": ({"role": "user", "content": "hi"}, ASKED),
    "openai parts": ({"role": "user", "content": [{"type": "text", "text": "hi"}]}, ASKED),
    "openai responses": ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}, ASKED),
    "gemini": ({"role": "user", "parts": [{"text": "hi"}]}, ASKED),
    "bedrock": ({"role": "user", "content": [{"text": "hi"}]}, ASKED),
    "langchain": ({"type": "human", "content": "hi"}, ASKED),
    "langchain dumped": ({"type": "human", "data": {"content": "hi"}}, ASKED),
    "langchain serialised": (
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "HumanMessage"],
            "kwargs": {"content": "hi", "type": "human"},
        },
        ASKED,
    ),
    "openinference": (
        {"message": {"role": "user", "contents": [{"message_content": {"type": "text", "text": "hi"}}]}},
        ASKED,
    ),
    "pair": (["human", "hi"], ASKED),
    "semantic kernel": ({"role": "user", "items": [{"content_type": "text", "text": "hi"}]}, ASKED),
    "otel call": (
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "t", "arguments": {"a": 1}}]},
        CALLED,
    ),
    "openai call": (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": '{"a": 1}'}}],
        },
        CALLED,
    ),
    "responses call": (
        {"type": "function_call", "call_id": "c", "id": "fc", "name": "t", "arguments": '{"a": 1}'},
        CALLED,
    ),
    "anthropic call": (
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {"a": 1}}]},
        CALLED,
    ),
    "gemini call": (
        {"role": "model", "parts": [{"function_call": {"id": "c", "name": "t", "args": {"a": 1}}}]},
        CALLED,
    ),
    "bedrock call": (
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "t", "input": {"a": 1}}}]},
        CALLED,
    ),
    "vercel call": (
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "t", "args": '{"a": 1}'}],
        },
        CALLED,
    ),
    "langchain call": (
        {"type": "ai", "content": [], "tool_calls": [{"id": "c", "name": "t", "args": {"a": 1}}]},
        CALLED,
    ),
    "genkit call": (
        {"role": "model", "content": [{"toolRequest": {"ref": "c", "name": "t", "input": {"a": 1}}}]},
        CALLED,
    ),
    "otel result": (
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": {"b": 2}}]},
        ANSWERED,
    ),
    "pydantic-ai result": (
        {"role": "user", "parts": [{"type": "tool_call_response", "id": "c", "result": {"b": 2}}]},
        OF_USER,
    ),
    "openai result": ({"role": "tool", "tool_call_id": "c", "content": '{"b": 2}'}, ANSWERED),
    "responses result": ({"type": "function_call_output", "call_id": "c", "output": '{"b": 2}'}, ANSWERED),
    "anthropic result": (
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": '{"b": 2}'}]}],
        },
        OF_USER,
    ),
    "bedrock result": (
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c", "status": "success", "content": [{"json": {"b": 2}}]}}],
        },
        OF_USER,
    ),
    "gemini result": ({"role": "tool", "parts": [{"functionResponse": {"id": "c", "response": {"b": 2}}}]}, ANSWERED),
    "vercel result": (
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "c", "output": {"type": "json", "value": {"b": 2}}}],
        },
        ANSWERED,
    ),
    "python repr": ({"role": "tool", "tool_call_id": "c", "content": "{'b': 2}"}, ANSWERED),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_read(shape: str) -> None:
    """The same message, however it was written, structured or as JSON in a string."""
    value, expected = SHAPES[shape]
    assert read_messages([value] if shape != "text" else value) == (expected,)
    if shape != "text":
        assert read_messages(json.dumps([value])) == (expected,)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_result", "tool_use_id": "c", "content": "down", "is_error": True},
        {"toolResult": {"toolUseId": "c", "status": "error", "content": [{"text": "down"}]}},
        {"type": "tool-result", "toolCallId": "c", "output": {"type": "error-text", "value": "down"}},
        {"type": "tool-error", "toolCallId": "c", "error": "down"},
    ],
)
def test_a_result_that_says_that_it_is_an_error_is_one(part: dict[str, Any]) -> None:
    """Anthropic, Bedrock and Vercel mark failed results."""
    (message,) = read_messages([{"role": "tool", "content": [part]}])
    assert message.parts == (ToolResultPart(call_id="c", result="down", failed=True),)


def test_reasoning_is_kept_apart_from_text() -> None:
    """What a model thought is no part of what it said."""
    (message,) = read_messages(
        [{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"}]}]
    )
    assert message.parts == (ReasoningPart(text="hm"), TextPart(text="hi"))
    assert message.text == "hi"


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x/y.png"}}, Attachment(modality="image", name="https://x/y.png")),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 30}},
            Attachment(modality="image", mime_type="image/png", size=90),
        ),
        ({"inline_data": {"mime_type": "audio/wav", "data": "AAAA" * 30}}, Attachment(modality="audio", mime_type="audio/wav", size=90)),
        (
            {"type": "file", "modality": "document", "mime_type": "application/pdf", "file_id": "f1"},
            Attachment(modality="document", mime_type="application/pdf", name="f1"),
        ),
    ],
)  # fmt: skip
def test_attachments_are_named(part: dict[str, Any], expected: Attachment) -> None:
    """Type, name and size; the bytes are not kept."""
    (message,) = read_messages([{"role": "user", "content": [part]}])
    assert message.parts == (expected,)


@pytest.mark.parametrize("placeholder", ["__REDACTED__", "[REDACTED]", "<elided>", "[Scrubbed due to 'secret']"])
def test_a_placeholder_says_that_somebody_spoke(placeholder: str) -> None:
    """The message stays, for it begins a turn; beside other parts the placeholder is left out."""
    (alone,) = read_messages([{"role": "user", "content": placeholder}])
    assert alone.parts == (TextPart(text=placeholder),)
    both = [{"type": "text", "text": placeholder}, {"type": "text", "text": "Hello"}]
    (beside,) = read_messages([{"role": "user", "content": both}])
    assert beside.text == "Hello"


@pytest.mark.parametrize(
    "shown",
    ["[HIDDEN]", "<masked>", "***MASKED***", "__REDACTED__", "[Redacted]", "[Filtered]", "REDACTED", "[scrubbed]"],
)
def test_a_mask_is_no_text(shown: str) -> None:
    """What a program's own masking function leaves is content that was hidden."""
    assert is_placeholder(shown)


@pytest.mark.parametrize(
    "said", ["hidden", "[1] hidden", "It is [HIDDEN].", "[]", "***", "(masked)", "<hidden> files", "Redacted"]
)
def test_a_text_with_such_a_word_is_a_text(said: str) -> None:
    """Only the whole of a value can be a mask."""
    assert not is_placeholder(said)


@pytest.mark.parametrize("said", ["[REDACTED:payment_card]", "<EMAIL_ADDRESS>", "<email_hash:0123456789abcdef>"])
def test_a_marker_that_says_what_was_there_is_kept(said: str) -> None:
    """A check for leaks counts it as found, which a gap could not tell it."""
    assert not is_placeholder(said)


@pytest.mark.parametrize("kind", ["[]", "{}", "7", "null"])
def test_a_part_of_no_kind_is_a_text(kind: str) -> None:
    """What looks like a part, and is of no kind that anybody writes, stands as it is."""
    said = f'[{{"type": {kind}}}]'
    assert read_messages([{"role": "user", "content": said}]) == (Message(role="user", parts=(TextPart(text=said),)),)


def test_a_message_of_a_known_role_is_read_once_whoever_is_expected_to_speak() -> None:
    """An answer comes out of one call and goes into the next; one that does not say who speaks is what is expected."""
    own = {"role": "assistant", "parts": [{"type": "text", "content": "It was sent."}]}
    assert read_message(own, "user") is read_message(dict(own), "assistant")
    for odd in ({"parts": own["parts"]}, {**own, "role": "narrator"}, {**own, "role": ["assistant"]}):
        assert [read_message(odd, role).role for role in ("user", "assistant", "user")] == ["user", "assistant", "user"]
