"""Mastra's exporter, before and since 1.0."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Span
from otel_eval.testing.spans import span


def typed(kind: str, attributes: dict[str, Any], name: str = "s", **fields: Any) -> Span:
    """A span of that type."""
    return span(name, attributes={"mastra.span.type": kind, **attributes}, **fields)


def read(kind: str, attributes: dict[str, Any], name: str = "s") -> Facts | None:
    """The facts of such a span."""
    return facts_of(typed(kind, attributes, name))


@pytest.mark.parametrize(
    ("kind", "attributes", "expected"),
    [
        ("agent_run", {"gen_ai.operation.name": "invoke_agent"}, Kind.AGENT),
        ("workflow_run", {"gen_ai.operation.name": "invoke_workflow"}, Kind.WORKFLOW),
        ("model_generation", {"gen_ai.operation.name": "model_generation"}, Kind.STEP),
        ("model_generation", {"gen_ai.operation.name": "chat"}, Kind.MODEL),  # before 1.0
        ("model_step", {}, Kind.STEP),
        ("model_inference", {"gen_ai.operation.name": "chat"}, Kind.MODEL),
        ("mcp_tool_call", {}, Kind.TOOL),
        ("model_chunk", {"gen_ai.operation.name": "model_chunk"}, None),
        ("memory_operation", {}, None),
        ("scorer_run", {}, Kind.EVALUATOR),
    ],
)
def test_kinds(kind: str, attributes: dict[str, Any], expected: Kind | None) -> None:
    """A span is what its type says; a generation was the call itself before 1.0."""
    facts = read(kind, attributes)
    assert (None if facts is None else facts.kind) == expected


@pytest.mark.parametrize(
    ("raw", "asked"),
    [
        ("Where is it?", "Where is it?"),
        ('[{"role":"user","content":"Where is it?"}]', "Where is it?"),
        ('{"id": 81}', '{"id": 81}'),
    ],
)
def test_what_was_asked(raw: str, asked: str) -> None:
    """A plain text as it was typed, or messages."""
    for prefix in ("mastra.agent_run", "langfuse.observation", "langfuse.trace"):  # the last two: @mastra/langfuse
        agent = typed("agent_run", {f"{prefix}.input": raw, f"{prefix}.output": '{"text":"Here."}'})
        (found,) = assemble([agent])
        assert (found.asked, found.reply) == (asked, "Here.")


@pytest.mark.parametrize(
    ("output", "reply"),
    [
        ({"text": "Here.", "files": []}, "Here."),
        ({"text": "", "object": {"score": 0.9}}, '{"score":0.9}'),
        ({"text": ""}, ""),
    ],
)
def test_replies(output: dict[str, Any], reply: str) -> None:
    """The text, else the object of a structured answer; an empty text is an answer."""
    facts = read("agent_run", {"mastra.agent_run.output": json.dumps(output)})
    assert facts is not None
    assert facts.reply == reply


def test_before_1_0() -> None:
    """Inputs and outputs stand under names without a type, and the agent's name in the span's."""
    agent = typed(
        "agent_run",
        {"input": "Where is it?", "output": '{"text":"Here."}', "agent.id": "shop"},
        "agent run: 'shop'",
    )
    tool = typed(
        "tool_call",
        {"gen_ai.tool.name": "find", "gen_ai.tool.input": '{"id":81}', "gen_ai.tool.output": '{"status":"paid"}'},
        parent=agent,
    )
    (found,) = assemble([agent, tool])
    assert (found.agent, found.asked, found.reply) == ("shop", "Where is it?", "Here.")
    assert (found.tool_calls[0].arguments, found.tool_calls[0].result) == ({"id": 81}, {"status": "paid"})


def test_the_providers_response_serves_where_content_is_hidden() -> None:
    """The step's copy of the whole response tells the tool calls and the reply."""
    agent = typed("agent_run", {"gen_ai.agent.name": "shop"})
    calls = [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id":81}'}}]
    messages = ({"role": "assistant", "tool_calls": calls}, {"role": "assistant", "content": "Here."})
    steps = [
        typed(
            "model_step",
            {"mastra.metadata.body": json.dumps({"choices": [{"message": message}]})},
            parent=agent,
            started_ns=agent.started_ns + order,
        )
        for order, message in enumerate(messages)
    ]
    (found,) = assemble([agent, *steps])
    assert (found.reply, found.tool_calls[0].name, found.tool_calls[0].arguments) == ("Here.", "find", {"id": 81})


def test_a_failed_tool() -> None:
    """The error's message stands in an attribute, the type is unknown."""
    facts = facts_of(
        typed(
            "tool_call",
            {"gen_ai.tool.name": "find", "error.type": "unknown", "error.message": "down"},
            status="error",
        )
    )
    assert facts is not None
    assert facts.error is not None
    assert "down" in facts.error


@pytest.mark.parametrize(
    "keys", [("mastra.agent_run.input", "mastra.agent_run.output"), ("input.value", "output.value")]
)
def test_a_run_that_waited_for_a_user_is_one_with_the_run_that_goes_on(keys: tuple[str, str]) -> None:
    """What it gives while it waits is no reply, and the user's leave is no question."""
    waits = {"status": "suspended", "reason": "tool-call-approval", "toolName": "wipe", "toolCallId": "c1"}
    leave = {"approved": True, "toolName": "wipe", "toolCallId": "c1"}
    shared = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "wiper", "openinference.span.kind": "AGENT"}
    told = [dict(zip(keys, pair, strict=True)) for pair in (("Wipe sda", json.dumps(waits)), (json.dumps(leave), "{}"))]
    told[1][keys[1]] = '{"text":"Wiped.","files":[]}'
    outer = typed("agent_run", {**shared, **told[0]}, "invoke_agent wiper")
    inner = typed("agent_run", {**shared, **told[1]}, "invoke_agent wiper", parent=outer)
    call = {"gen_ai.tool.name": "wipe", "gen_ai.tool.call.arguments": '{"disk":"sda"}', "gen_ai.tool.call.id": "c1"}
    tool = typed("tool_call", {**call, "gen_ai.tool.call.result": '{"gone":"sda"}'}, parent=inner)
    (found,) = assemble([outer, inner, tool])
    assert (found.asked, found.reply) == ("Wipe sda", "Wiped.")
    assert [(call.name, call.result) for call in found.tool_calls] == [("wipe", {"gone": "sda"})]


def test_arguments_that_do_not_fit_are_a_tools_error() -> None:
    """The tool does not run, and the model is told in an object; its span has not failed."""
    told = {"error": True, "message": "Tool input validation failed for roll.", "validationErrors": {"errors": []}}
    facts = read("tool_call", {"gen_ai.tool.name": "roll", "gen_ai.tool.call.result": json.dumps(told)})
    assert facts is not None
    assert facts.error == "Tool input validation failed for roll."


def test_results_of_which_the_names_are_left_are_none() -> None:
    """The messages that Arize's exporter writes are the step's, which keeps neither calls nor results."""
    told = [
        {"role": "user", "content": "Roll, then read [tool: roll]"},
        {"role": "assistant", "content": "Let me look. [tool: roll][tool: roll]"},
        {"role": "tool", "content": "[tool-result: roll][tool-result: roll]"},
    ]
    flat = {
        f"llm.input_messages.{place}.message.{key}": value
        for place, said in enumerate(told)
        for key, value in said.items()
    }
    own = {"openinference.span.kind": "LLM", "mastra.model_step.input": json.dumps(told), **flat}
    facts = read("model_step", own)
    assert facts is not None
    assert [said.text for said in facts.input or ()] == ["Roll, then read [tool: roll]"]
