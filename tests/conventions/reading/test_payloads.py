"""What functions were given, whatever it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.payloads import input_payload, output_payload
from otel_eval.conventions.reading.tool_payloads import tool_arguments, tool_outcome
from otel_eval.conventions.registry import facts_of
from otel_eval.testing.spans import span

BEFORE = [{"role": "user", "content": "Refund o_9"}, {"role": "assistant", "content": "Done."}]


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ({"input": "And o_8?", "chat_history": BEFORE}, ["Refund o_9", "Done.", "And o_8?"]),
        ({"user_msg": "And o_8?", "chat_history": []}, ["And o_8?"]),
        ({"question": "And o_8?", "history": [["human", "Refund o_9"]]}, ["Refund o_9", "And o_8?"]),
        ({"start_event": {"user_msg": "And o_8?", "chat_history": BEFORE}}, ["Refund o_9", "Done.", "And o_8?"]),
        ({"chat_history": BEFORE}, ["Refund o_9", "Done."]),
        ({"input": "__REDACTED__", "chat_history": BEFORE}, ["Refund o_9", "Done."]),
        ({"messages": [{"role": "user", "content": "And o_8?"}]}, ["And o_8?"]),
    ],
)
def test_what_is_said_now_follows_the_history_beside_it(given: dict[str, Any], texts: list[str]) -> None:
    """It is the last message, and the history is no question."""
    found = input_payload(json.dumps(given))
    assert [message.text for message in found.messages or ()] == texts


@pytest.mark.parametrize(
    ("calling", "arguments"),
    [("tool_name='find' arguments={'id': 9}", {"id": 9}), ("tool_name='find' arguments=None", None), ("find", None)],
)
def test_what_crewai_called_a_tool_with(calling: str, arguments: Any) -> None:
    """Beside the model's text and the tool itself, in Python's words."""
    given = {"tool_string": "Thought: …", "tool": "CrewStructuredTool(…)", "calling": calling}
    assert tool_arguments(json.dumps(given)) == arguments


def test_a_tool_of_crewais_that_raised() -> None:
    """What the model is told of it is a sentence of the framework's."""
    said = "\nI encountered an error while trying to use the tool. This was the error: down.\n Tool find accepts these inputs: …"
    assert "down" in (tool_outcome(said).error or "")


TOLD = {"content": "Refunded.", "type": "tool", "tool_call_id": "c1", "status": "success"}


@pytest.mark.parametrize(
    ("update", "result", "error"),
    [
        ({"messages": [TOLD]}, "Refunded.", None),
        ({"messages": [{"type": "ai", "content": "x"}, {"type": "tool", "data": TOLD}], "seen": 1}, "Refunded.", None),
        (
            {"messages": [{"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": TOLD}]},
            "Refunded.",
            None,
        ),
        ({"messages": [TOLD | {"content": "down", "status": "error"}]}, "down", "down"),
    ],
    ids=["message", "among others", "serialised", "failed"],
)
def test_a_tool_that_commands_its_graph(update: dict[str, Any], result: str, error: str | None) -> None:
    """Of LangGraph's command, what the tool tells the model is the result."""
    found = tool_outcome({"graph": None, "update": update, "resume": None, "goto": []})
    assert (found.result, found.error, found.call_id) == (result, error, "c1")
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "refund",
        "gen_ai.tool.call.result": json.dumps({"graph": None, "update": update, "resume": None, "goto": []}),
    }
    facts = facts_of(span("execute_tool refund", attributes=attributes))
    assert facts is not None
    assert (facts.result, facts.error) == (result, error)


def test_a_command_without_a_message_is_the_result() -> None:
    """Nothing else says what the tool gave."""
    told = {"graph": None, "update": {"seen": 1}, "resume": None, "goto": []}
    assert tool_outcome(told).result == told


def serialised(kind: str, **fields: Any) -> dict[str, Any]:
    """A message as LangChain.js writes it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", kind], "kwargs": fields}


def test_the_command_that_a_tool_gives_in_javascript() -> None:
    """Its class stands in ``lg_name``; the tool's message among the state's is the result."""
    told = serialised("ToolMessage", content="Gold.", tool_call_id="c1", name="task")
    command = {"lg_name": "Command", "update": {"files": {}, "messages": [told]}, "goto": []}
    found = tool_outcome(json.dumps(command))
    assert (found.result, found.error, found.call_id) == ("Gold.", None, "c1")


PLACE = {"city": "Paris", "n": 4}
GIVING = serialised("AIMessage", content="", tool_calls=[{"name": "Place", "args": PLACE, "id": "c1"}])
SENTENCE = "Returning structured response: "


@pytest.mark.parametrize(
    ("state", "reply", "pseudo"),
    [
        ({"messages": [GIVING], "structuredResponse": PLACE}, PLACE, ("Place",)),
        ({"messages": [GIVING], "structured_response": PLACE}, PLACE, ("Place",)),
        ({"messages": [serialised("AIMessage", content="{}")], "structuredResponse": PLACE}, PLACE, ()),
        ({"messages": [GIVING, serialised("AIMessage", content=SENTENCE + json.dumps(PLACE))]}, PLACE, ("Place",)),
        ({"messages": [GIVING, serialised("AIMessage", content=SENTENCE + "{}")]}, None, ()),
        ({"messages": [GIVING], "structuredResponse": None}, None, ()),
    ],
)
def test_langchains_structured_answers(
    state: dict[str, Any], reply: dict[str, Any] | None, pseudo: tuple[str, ...]
) -> None:
    """The answer is the reply, and the call that gives it is no tool's."""
    found = output_payload(json.dumps(state))
    assert (None if found.text is None else json.loads(found.text)) == reply
    assert found.pseudo_tools == pseudo
    assert found.messages is not None


@pytest.mark.parametrize(
    ("content", "end", "result", "error"),
    [
        ("18 degrees", ', "additional_kwargs": {}, "respo', "18 degrees", None),
        ('{"error": "no such order"}', ', "additional_kwargs": {}', {"error": "no such order"}, "no such order"),
        ("out of reach", ', "name": "look", "status": "error", "art', "out of reach", "out of reach"),
    ],
)
def test_a_tool_message_that_was_cut_after_its_content(
    content: str, end: str, result: object, error: str | None
) -> None:
    """LangChain's envelopes are longer than most results: a length limit cuts them, and not the result."""
    found = tool_outcome('{"type": "tool", "data": {"content": ' + json.dumps(content) + end)
    assert (found.result, found.error) == (result, error)


def test_a_tool_message_that_was_cut_in_its_content() -> None:
    assert tool_outcome('{"type": "tool", "data": {"content": "caf\\u00e9 cr\\u00').result == "café cr"


CONSTRUCTOR = (
    '{"output": {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"], "kwargs": '
)


@pytest.mark.parametrize("envelope", ['{"type": "tool", "data": ', CONSTRUCTOR])
@pytest.mark.parametrize(("end", "whole"), [('"18 degrees", "name": "loo', True), ('"18 degr', False)])
def test_only_a_cut_in_the_content_cuts_a_tools_result(envelope: str, end: str, whole: bool) -> None:
    """What LangChain writes after it is not the tool's."""
    written = f'{envelope}{{"content": {end}'
    content = Content({"output.value": written})
    assert content.cut("result", written) is not whole
    assert (content.marks == ()) is whole
    assert tool_outcome(written).result == ("18 degrees" if whole else "18 degr")
