"""A client that runs a tool within the span of the model's call, and asks the model again within the tool's."""

from __future__ import annotations

from otel_eval.assemble.assembler import assemble
from otel_eval.testing.spans import agent_span, message, model_span, tool_span

WANTS = message("assistant", {"type": "tool_call", "id": "c1", "name": "getOrder", "arguments": {"id": 7}})
GAVE = message("tool", {"type": "tool_call_response", "id": "c1", "response": "sent"})


def test_what_goes_on_below_a_tool_is_the_agents_own() -> None:
    """The second call is given what the first asked for: its answer is the reply."""
    agent = agent_span(asked=None, reply=None)
    first = model_span(parent=agent, messages=[message("user", "hi")], output=[WANTS])
    tool = tool_span("getOrder", {"id": 7}, "sent", call_id="c1", parent=first)
    again = model_span(
        parent=tool, messages=[message("user", "hi"), WANTS, GAVE], output=[message("assistant", "Sent.")], seconds=0.2
    )
    (found,) = assemble([agent, first, tool, again], [])
    assert (found.asked, found.reply, len(found.model_calls)) == ("hi", "Sent.", 2)
    assert [(call.name, call.result) for call in found.tool_calls] == [("getOrder", "sent")]


def test_what_a_tool_asks_a_model_for_itself_is_not() -> None:
    """It was given nothing that the agent's model asked for."""
    agent = agent_span(asked=None, reply=None)
    first = model_span(parent=agent, messages=[message("user", "hi")], output=[WANTS])
    tool = tool_span("getOrder", {"id": 7}, "sent", call_id="c1", parent=first)
    own = model_span(
        parent=tool, messages=[message("user", "sum up")], output=[message("assistant", "sent")], seconds=0.2
    )
    (found,) = assemble([agent, first, tool, own], [])
    assert (found.reply, len(found.model_calls)) == (None, 2)
