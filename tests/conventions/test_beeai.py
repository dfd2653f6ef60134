"""The BeeAI framework under OpenInference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import span


def bee(name: str, kind: str, parent: Span | None = None, **attributes: Any) -> Span:
    written = {"openinference.span.kind": kind, **{key.replace("_", "."): value for key, value in attributes.items()}}
    return span(name, parent=parent, attributes=written, scope=Scope("openinference.instrumentation.beeai"))


def test_the_tool_that_ends_a_run_is_no_call() -> None:
    agent = bee("helper", "AGENT", agent_name="helper", input_value='{"input": "Hello?"}', output_value="Hi.")
    model = bee("OpenAIChatModel", "LLM", agent)
    model.attributes.update(
        {
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "final_answer",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"response": "Hi."}',
        }
    )
    event = bee("final_answer", "AGENT", agent, input_value='{"output": "Hi.", "state": {}}')
    tool = bee("final_answer", "TOOL", agent, tool_name="final_answer", output_value="Message has been sent")
    look = bee(
        "look",
        "TOOL",
        agent,
        tool_name="look",
        input_value='{"input": {"at": "x"}, "options": null}',
        output_value="seen",
    )
    (found,) = assemble([agent, model, look, event, tool])
    assert (found.agent, found.asked, found.reply) == ("helper", "Hello?", "Hi.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("look", {"at": "x"}, "seen")]


def test_what_a_tool_raised_stands_in_its_output() -> None:
    said = "ToolError(beeai_framework.tools.errors): Tool Error\n  RuntimeError(builtins): out of reach"
    raised = SpanEvent(
        "exception",
        attributes={"exception.type": "beeai_framework.tools.errors.ToolError", "exception.message": "Tool Error"},
    )
    agent = bee("helper", "AGENT", agent_name="helper", input_value='{"input": "Hello?"}', output_value="Hi.")
    failed = replace(bee("look", "TOOL", agent, tool_name="look", output_value=said), status="error", events=(raised,))
    (call,) = assemble([agent, failed])[0].tool_calls
    assert (call.error, call.result) == (said, None)
