"""Numbers that JSON takes and other readers do not."""

from __future__ import annotations

import json

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.cli.interactions import _line
from otel_eval.testing.spans import agent_span, message, model_span, tool_span


@pytest.mark.parametrize("call_id", ["c1", None])
@pytest.mark.parametrize(
    "arguments", ['{"b": NaN, "c": 123456789012345678901234567890}', "{'c': 123456789012345678901234567890}"]
)
def test_a_whole_number_beyond_64_bits_loses_no_interaction(tmp_path, call_id: str | None, arguments: str) -> None:
    """Neither where spans and messages are joined by their arguments, nor where it is printed."""
    root = agent_span(asked="Hi", reply="Hello")
    wants = {"type": "tool_call", "name": "look", "arguments": arguments} | ({"id": call_id} if call_id else {})
    asks = model_span(parent=root, messages=[message("user", "Hi")], output=[message("assistant", wants)])
    tool = tool_span("look", {}, {"n": 1}, parent=root, call_id=call_id)
    tool.attributes["gen_ai.tool.call.arguments"] = arguments
    (found,) = assemble([root, asks, tool])
    (call,) = found.tool_calls
    assert isinstance(call.arguments, dict)
    assert call.arguments["c"] == 123456789012345678901234567890
    assert "123456789012345678901234567890" in _line(tmp_path, found)
    assert json.loads(_line(tmp_path, found))["tool_calls"][0]["name"] == "look"
