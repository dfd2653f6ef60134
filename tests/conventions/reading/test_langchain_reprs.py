"""LangChain's messages as Python writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.conventions.reading.langchain_reprs import message_in
from otel_eval.conventions.reading.messages import calls_in, read_messages, results_in
from otel_eval.conventions.reading.payloads import output_payload
from otel_eval.conventions.reading.tool_payloads import tool_outcome

CALL = """content='' additional_kwargs={'a': "it's"} id='run-1' tool_calls=[{'name': 'find', 'args': {'id': 9}, 'id': 'c1'}]"""
RESULT = "content='{\"status\": \"sent\"}' name='find' tool_call_id='c1'"


@pytest.mark.parametrize(
    ("said", "role", "content"),
    [
        ("content='hi'", None, "hi"),
        ("content=\"it's = here\" id='7'", "user", "it's = here"),
        ("content='hi' additional_kwargs={} response_metadata={'model': 'm'}", "assistant", "hi"),
        ("content='hi' additional_kwargs={} response_metadata={}", "user", "hi"),
        ("content='hi' id='run-7'", "assistant", "hi"),
        ("content=[{'type': 'text', 'text': 'hi'}]", None, [{"type": "text", "text": "hi"}]),
        ("content='hi' id='run-7' tool_calls=[{'name': 'fi", "assistant", "hi"),  # the end is cut
        (RESULT, "tool", '{"status": "sent"}'),
    ],
)
def test_a_message(said: str, role: str | None, content: Any) -> None:
    """Its role as far as its fields tell."""
    found = message_in(said)
    assert found is not None
    assert (found.get("role"), found["content"]) == (role, content)


@pytest.mark.parametrize(
    "said",
    [
        "content='hi",
        "content='hi' and so on",
        "content = 'hi'",
        "content=hi",
        "the content='hi'",
        "",
    ],
)
def test_another_text(said: str) -> None:
    """A text that only begins like one, or is cut, is a text."""
    assert message_in(said) is None


def test_messages_in_a_list_and_as_a_result() -> None:
    """As instrumentations have them in what a graph and a tool gave."""
    asks, answers = read_messages(json.loads(json.dumps([CALL, RESULT])), "assistant")
    assert [(part.name, part.arguments, part.call_id) for part in calls_in(asks)] == [("find", {"id": 9}, "c1")]
    assert [part.call_id for part in results_in(answers)] == ["c1"]
    for given in (RESULT, json.dumps({"output": RESULT})):
        outcome = tool_outcome(given)
        assert (outcome.result, outcome.call_id, outcome.name) == ({"status": "sent"}, "c1", "find")
    assert output_payload(json.dumps({"output": "content='Done.' id='run-1'"})).messages == read_messages(
        "Done.", "assistant"
    )
