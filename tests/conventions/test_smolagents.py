"""smolagents beyond OpenInference's convention."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

SMOL = Scope("openinference.instrumentation.smolagents")


def smol(kind: str, **attributes: Any) -> Span:
    """A span of smolagents."""
    return span("x", attributes={"openinference.span.kind": kind, **attributes}, scope=SMOL)


def test_smolagents() -> None:
    """The task was asked; a tool's arguments are those of its call, never its schema; ``final_answer`` is no tool."""
    agent = facts_of(smol("AGENT", **{"input.value": '{"task": "hi", "stream": false}', "output.value": "hello"}))
    assert agent is not None
    assert (agent.kind, agent.asked, agent.reply, agent.pseudo_tools) == (Kind.AGENT, "hi", "hello", ("final_answer",))
    schema = '{"city": {"type": "string", "description": "a city"}}'
    taken = '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"city": "Rome"}}'
    own = {"tool.name": "weather", "tool.parameters": schema, "output.value": "sunny"}
    shown, hidden, final = (
        facts_of(smol("TOOL", **{**own, "input.value": taken})),
        facts_of(smol("TOOL", **{**own, "input.value": "__REDACTED__"})),
        facts_of(smol("TOOL", **{**own, "tool.name": "final_answer"})),
    )
    assert shown is not None
    assert hidden is not None
    assert final is not None
    assert (shown.tool, shown.arguments, shown.result) == ("weather", {"city": "Rome"}, "sunny")
    assert hidden.arguments is None
    assert final.kind is Kind.STEP


def test_the_task_of_the_run_before_is_not_asked() -> None:
    """``smolagents.task`` is read before the run sets it; the agent has the name that its span has."""
    later = span(
        "order_agent.run",
        attributes={
            "openinference.span.kind": "AGENT",
            "input.value": '{"task": "And now?", "reset": false}',
            "smolagents.task": "Refund o_9",
        },
        scope=SMOL,
    )
    facts = facts_of(later)
    assert facts is not None
    assert (facts.agent, facts.asked) == ("order_agent", "And now?")


def test_a_streamed_runs_reply_is_the_final_answer() -> None:
    """The reprs of what a stream yielded are no reply."""
    agent = span(
        "bob.run",
        attributes={
            "openinference.span.kind": "AGENT",
            "input.value": '{"task": "hi"}',
            "output.value": "ToolCall(name='final_answer', arguments={'answer': 'Done.'}, id='c')ActionStep(n=1)",
        },
        scope=SMOL,
    )
    own = {"openinference.span.kind": "TOOL", "tool.name": "final_answer", "output.value": "Done."}
    final = span("FinalAnswerTool", parent=agent, attributes=own, scope=SMOL)
    [found] = assemble([agent, final])
    assert (found.asked, found.reply, found.tool_calls) == ("hi", "Done.", ())


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        ("ActionStep(n=1)FinalAnswerStep(output='It\\'s done.\\nBye.')", "It's done.\nBye."),
        ("ActionStep(n=1)FinalAnswerStep(output=Box(1))", "Thought: done"),
        ("ActionStep(n=1)FinalAnswerStep(output='It", "Thought: done"),
    ],
    ids=["text", "object", "cut"],
)
def test_a_streamed_run_of_code_ends_with_the_answer(given: str, reply: str) -> None:
    """Its model's last text is code; it serves where the answer is not whole."""
    attributes = {"openinference.span.kind": "AGENT", "input.value": '{"task": "hi"}', "output.value": given}
    agent = span("bob.run", attributes=attributes, scope=SMOL)
    said = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Thought: done",
    }
    (found,) = assemble([agent, span("Model.generate", parent=agent, attributes=said, scope=SMOL)])
    assert found.reply == reply


def test_a_steps_memory_is_not_asked() -> None:
    """A failing model leaves the agent's span unended: what its step was given is the repr of an object."""
    memory = '{"memory_step": "ActionStep(step_number=1, timing=Timing(start_time=1.5))"}'
    step = facts_of(smol("CHAIN", **{"input.value": memory}))
    assert step is not None
    assert step.asked is None
