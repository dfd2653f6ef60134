"""Amazon Bedrock Agents under OpenInference: what the service's own trace says, as spans."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

BEDROCK = Scope("openinference.instrumentation.bedrock")
PARAMETERS = [
    {"name": "order", "type": "string", "value": "81"},
    {"name": "cents", "type": "integer", "value": "4999"},
]


def work(name: str, kind: str, at: int = 0, *, parent: Span | None = None, **told: Any) -> Span:
    attributes = {"openinference.span.kind": kind, **{key.replace("__", "."): value for key, value in told.items()}}
    return span(name, attributes=attributes, parent=parent, scope=BEDROCK, started_ns=START_NS + at * SECOND_NS)


def asking(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = "llm.output_messages.0.message.tool_calls.0.tool_call."
    return {
        "llm.output_messages.0.message.role": "assistant",
        f"{call}id": "toolu_1",
        f"{call}function.name": name,
        f"{call}function.arguments": json.dumps(arguments),
    }


def test_a_function_that_the_service_ran_is_one_call() -> None:
    """Its model asks for it under the action group's name, and the call has a span by its own."""
    agent = work("bedrock_agent.invoke_agent", "AGENT", input__value="Refund 81", output__value="Done.")
    step = work("orchestrationTrace", "CHAIN", parent=agent)
    asked = asking("shop__refund", {"order": "81", "cents": 4999})
    model = work("LLM", "LLM", 1, parent=step, llm__model_name="claude", **asked)
    parameters = json.dumps(PARAMETERS)
    called = work(
        "action_group",
        "TOOL",
        2,
        parent=step,
        tool__name="refund",
        tool__parameters=parameters,
        output__value="refunded",
    )

    (turn,) = assemble([agent, step, model, called])

    assert (turn.asked, turn.reply) == ("Refund 81", "Done.")
    (call,) = turn.tool_calls or ()
    assert (call.name, call.arguments, call.result) == ("refund", {"order": "81", "cents": 4999}, "refunded")


def test_what_a_model_asks_for_without_an_agent_is_a_call() -> None:
    """A call of the model's own API: the program runs the tools."""
    model = work("bedrock.converse", "LLM", llm__model_name="claude", **asking("get_order", {"order": "81"}))
    (turn,) = assemble([model])
    assert [call.name for call in turn.tool_calls or ()] == ["get_order"]
