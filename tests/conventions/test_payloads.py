"""What functions were given, whatever it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.conventions.payloads import input_payload, tool_arguments, tool_outcome

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
