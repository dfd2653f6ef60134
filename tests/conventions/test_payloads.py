"""What functions were given, whatever it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.conventions.payloads import input_payload

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
