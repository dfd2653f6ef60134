"""Haystack under OpenInference, where an agent is a chain and its messages are reprs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.frozen import changed
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

SCOPE = Scope("openinference.instrumentation.haystack")


def component(name: str, kind: str = "CHAIN", parent: Span | None = None, **values: Any) -> Span:
    """A component's span, with ``taken`` and ``given`` as JSON."""
    keys = {"taken": "input.value", "given": "output.value"}
    own = {keys[key]: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    return span(name, parent=parent, attributes={"openinference.span.kind": kind, **own}, scope=SCOPE)


def message(role: str, content: str) -> str:
    """The repr of a ChatMessage."""
    return f"ChatMessage(_role=<ChatRole.{role.upper()}: '{role}'>, _content=[{content}], _name=None, _meta={{}})"


CALL = "ToolCall(tool_name='refund', arguments={'order': 'o_9'}, id='c1', extra=None)"
USER = message("user", "TextContent(text='Refund o_9, it\\'s broken')")
WANTS = message("assistant", f"TextContent(text='Let me see.'), {CALL}")
LAST = message("assistant", "TextContent(text='Done.')")


def answered(result: str, error: bool = False) -> dict[str, Any]:
    """What an agent gives that called one tool."""
    got = message("tool", f"ToolCallResult(result={result!r}, origin={CALL}, error={error})")
    return {"messages": [USER, WANTS, got, LAST], "last_message": LAST}


def run(given: dict[str, Any]) -> list[Span]:
    """An agent in a pipeline."""
    pipeline = component("Pipeline.run", taken={"data": {"bob": {"messages": [USER]}}}, given={"bob": given})
    return [pipeline, component("Agent.run", parent=pipeline, taken={"messages": [USER]}, given=given)]


def test_an_agents_conversation_is_read_out_of_reprs() -> None:
    """Asked, reply, name and tool come out of them."""
    [found] = assemble(run(answered('{"refunded": 4999}')))
    [call] = found.tool_calls
    assert (found.agent, found.asked, found.reply) == ("bob", "Refund o_9, it's broken", "Done.")
    assert (call.name, call.arguments, call.call_id) == ("refund", {"order": "o_9"}, "c1")
    assert call.result in ({"refunded": 4999}, '{"refunded": 4999}')


def test_a_failed_call_has_an_error_and_no_result() -> None:
    """The result's flag tells."""
    [found] = assemble(run(answered("Failed to invoke: down", error=True)))
    [call] = found.tool_calls
    assert (call.error, call.result) == ("Failed to invoke: down", None)


def test_a_pipeline_that_failed_names_its_agent() -> None:
    """It gives nothing then, and its failure has the component's name."""
    words = "The following component failed to run:\nComponent name: 'bob'\nComponent type: 'Agent'\nError: boom"
    pipeline = component("Pipeline.run", taken={"data": {"bob": {"messages": [USER]}}})
    failed = changed(pipeline, status="error", status_message=f"PipelineRuntimeError: {words}")
    [found] = assemble([failed, component("Agent.run", parent=pipeline, taken={"messages": [USER]})])
    assert (found.agent, found.failed) == ("bob", True)


def test_hidden_content_is_none() -> None:
    """Redacted values leave the agent with gaps and nothing invented."""
    pipeline = component("Pipeline.run", taken="__REDACTED__", given="__REDACTED__")
    agent = component("Agent.run", parent=pipeline, taken="__REDACTED__", given="__REDACTED__")
    [found] = assemble([pipeline, agent])
    assert (found.asked, found.reply, found.tool_calls) == (None, None, ())


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("Agent.run_async", "CHAIN", Kind.AGENT),
        ("AsyncPipeline.run_async", "CHAIN", Kind.WORKFLOW),
        ("ToolInvoker.run", "CHAIN", Kind.STEP),
        ("PromptBuilder.run", "LLM", Kind.STEP),
        ("OpenAIChatGenerator.run", "LLM", Kind.MODEL),
    ],
)
def test_kinds(name: str, kind: str, expected: Kind) -> None:
    """What the instrumentation calls a chain or a model is told by the component's class."""
    facts = facts_of(component(name, kind))
    assert facts is not None
    assert facts.kind is expected


@pytest.mark.parametrize("written", [USER[:60], "ChatMessage()", "ChatMessage(_role=1, _content=[2])"])
def test_odd_reprs_are_no_messages_of_tools(written: str) -> None:
    """What cannot be read is not made up."""
    facts = facts_of(component("Agent.run", taken={"messages": [written]}))
    assert facts is not None
    assert all(not part for message in facts.input or () for part in [message.role == "tool"])
