"""Replies and questions that are JSON themselves, in attributes that hold whatever a function took and gave back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.conventions.reading.payloads import Payload, input_payload, output_payload
from otel_eval.interaction import Message, TextPart

VALUES = st.one_of(st.integers(0, 9), st.booleans(), st.text("abc 1", min_size=1))


@given(st.dictionaries(st.sampled_from(["order", "score", "items"]), VALUES, min_size=1) | st.lists(VALUES, min_size=2))
def test_a_structured_reply_is_told_as_it_was_written(value: Any) -> None:
    """An object, or a list of values; also where the text was written as a JSON string (Traceloop's decorators in
    JavaScript)."""
    reply = json.dumps(value, indent=1)
    assert output_payload(reply) == Payload(text=reply)
    assert output_payload(json.dumps(reply)) == Payload(text=reply)


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "assistant", "content": "Hello"}],
        ["content='Hello' additional_kwargs={} response_metadata={} id='run--1'"],
        ["Hello"],
        ["assistant", "Hello"],
    ],
    ids=["messages", "LangChain's repr", "one text", "a pair"],
)
def test_a_list_of_messages_is_none(value: Any) -> None:
    """What is in a message's shape is read as one."""
    found = output_payload(json.dumps(value))
    assert [message.text for message in found.messages or ()] == ["Hello"]


def test_a_question_in_json_comes_after_its_history() -> None:
    """Among a function's arguments: an object in which nothing is known to be a question is one as it stands."""
    asked = json.dumps({"order": "o_9", "wish": "a refund"})
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert input_payload(json.dumps({"args": [history[1:], asked], "kwargs": {}})) == Payload(text=asked)
    assert input_payload(json.dumps({"args": [json.dumps({"question": "Where?"})], "kwargs": {}})).text == "Where?"
    assert input_payload(json.dumps({"args": [history[:1], "s-1"], "kwargs": {}})) == Payload(
        messages=(Message(role="user", parts=(TextPart(text="Hi"),)),)
    )
