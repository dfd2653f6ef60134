"""Braintrust's spans, as its SDKs for Ruby, .NET and Go write them, and as programs in Python do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Span
from otel_eval.testing.spans import span

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Refund order 81"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": 81}'}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
CALLED = [*ASKED, CALLING, {"role": "tool", "tool_call_id": "c1", "content": "paid"}]


def typed(kind: str | None, name: str, taken: Any, given: Any, **fields: Any) -> Span:
    """A span of that type with its input and output in JSON; ``extra`` are further attributes."""
    attributes = {"braintrust.parent": "project_name:shop", **fields.pop("extra", {})}
    if kind is not None:
        attributes["braintrust.span_attributes"] = json.dumps({"type": kind})
    for key, value in (("braintrust.input_json", taken), ("braintrust.output_json", given)):
        if value is not None:
            attributes[key] = json.dumps(value)
    return span(name, attributes=attributes, **fields)


def choice(message: dict[str, Any], reason: str = "stop") -> list[dict[str, Any]]:
    """A model's output: an array of choices."""
    return [{"index": 0, "message": message, "finish_reason": reason}]


def test_ruby_llm_nests_the_calls_of_one_turn() -> None:
    """RubyLLM calls itself for what follows a tool, so that each model call is below the one before, without a type."""
    metadata = {"braintrust.metadata": json.dumps({"provider": "ruby_llm", "model": "gpt-5"})}
    counts = {"braintrust.metrics": json.dumps({"prompt_tokens": 10, "completion_tokens": 3, "tokens": 13})}
    first = typed(None, "ruby_llm.chat", ASKED, choice(CALLING, "tool_calls"), extra=metadata | counts, seconds=9.0)
    tool = typed(
        "tool",
        "ruby_llm.tool.get_order",
        {"name": "get_order", "arguments": {"id": 81}},
        "paid",
        extra={"tool.name": "get_order", "tool.call_id": "c1"},
        parent=first,
    )
    second = typed(
        None,
        "ruby_llm.chat",
        CALLED,
        choice({"role": "assistant", "content": "Done."}),
        extra=metadata | counts,
        parent=first,
    )
    (found,) = assemble([first, tool, second])
    assert (found.asked, found.reply, found.model) == ("Refund order 81", "Done.", "gpt-5")
    assert [(c.name, c.arguments, c.result, c.call_id) for c in found.tool_calls] == [
        ("get_order", {"id": 81}, "paid", "c1")
    ]
    assert (len(found.model_calls), found.usage.input_tokens, found.usage.output_tokens) == (2, 20, 6)


def dotnet(messages: bool = True) -> list[Span]:
    """A run of Microsoft's Agent Framework with Braintrust's middlewares; without messages, their capture is off."""
    said = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "get_order", "input": {"id": 81}}]},
        {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "paid"}]},
        {"role": "assistant", "content": "Done."},
    ]
    agent = typed(
        "agent",
        "agent:shop",
        [{"role": "user", "content": "Refund order 81"}] if messages else None,
        said if messages else None,
        extra={"gen_ai.agent.name": "shop", "braintrust.metrics.prompt_tokens": 20},
    )
    tool = typed(
        "function_call",
        "function:get_order",
        {"id": 81} if messages else None,
        {"result": "paid"} if messages else None,
        extra={"function.name": "get_order", "function.iteration": 0},
        parent=agent,
    )
    return [agent, tool]


def test_a_run_of_the_agent_framework_for_dotnet() -> None:
    """The agent's output is the whole run, the tool's result is in an envelope."""
    (found,) = assemble(dotnet())
    assert (found.agent, found.asked, found.reply) == ("shop", "Refund order 81", "Done.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [("get_order", {"id": 81}, "paid")]
    assert found.usage.input_tokens == 20


def test_content_that_is_not_captured_names_the_switch() -> None:
    """Without content the tools' names are known still, and the gaps name what turns it on."""
    (found,) = assemble(dotnet(messages=False))
    assert (found.asked, found.reply, [c.name for c in found.tool_calls]) == (None, None, ["get_order"])
    switches = {gap.field: gap.setting for gap in found.gaps}
    assert switches["asked"] == switches["reply"] == "captureMessageContent: true, captureToolArguments: true"


def test_googles_adk_for_go() -> None:
    """The agent's span has its name and session only; a tool's span is below the model call that asked for it."""
    told = {"adk.agent.name": "shop", "adk.agent.session_id": "s1", "adk.agent.invocation_id": "e-1"}
    contents = [{"role": "user", "parts": [{"text": "Refund order 81"}]}]
    asks = {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "get_order", "args": {"id": 81}}}]}
    answers = {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "get_order", "response": {"a": 1}}}]}
    done = {"role": "model", "parts": [{"text": "Done."}]}

    def call(taken: Any, given: Any) -> Span:
        made = {"gen_ai.prompt": json.dumps(taken), "gen_ai.completion": json.dumps(given)}
        return span("call_llm", attributes=told | {"gen_ai.request.model": "gemini-3"} | made, parent=agent)

    agent = span("agent_run [shop]", attributes=told, seconds=9.0)
    first = call(contents, asks)
    tool = typed(
        "tool", "tool [get_order]", {"id": 81}, {"a": 1}, extra=told | {"tool.name": "get_order"}, parent=first
    )
    second = call([*contents, asks, answers], done)
    (found,) = assemble([agent, first, tool, second])
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", "s1", "Refund order 81", "Done.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [("get_order", {"id": 81}, {"a": 1})]


def test_a_failed_tool_of_a_task() -> None:
    """A task is the invocation, named by what its attributes say; a tool that raised has an error and no result."""
    task = span(
        "agent.Graph",
        attributes={
            "braintrust.span_attributes": '{"type": "task", "name": "shop"}',
            "braintrust.input_json": json.dumps(ASKED),
            "braintrust.output_json": json.dumps(choice({"role": "assistant", "content": "Sorry."})),
        },
    )
    model = typed("llm", "Chat Completion", ASKED, choice(CALLING, "tool_calls"), parent=task)
    tool = typed("tool", "get_order", {"id": 81}, None, parent=task, status="error", status_message="down")
    (found,) = assemble([task, model, tool])
    assert (found.agent, found.asked, found.reply, found.failed) == ("shop", "Refund order 81", "Sorry.", False)
    assert [(c.name, c.result, c.error) for c in found.tool_calls] == [("get_order", None, "down")]


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"braintrust.parent": "project_name:shop"}, None),
        ({"braintrust.context_json": "{}"}, None),
        ({"braintrust.span_attributes": '{"type": "eval"}', "braintrust.input_json": '"x"'}, None),
        ({"braintrust.span_attributes": '{"type": "score"}'}, Kind.EVALUATOR),
        ({"braintrust.span_attributes": "{"}, None),
        ({"braintrust.input": "Where is it?", "braintrust.output": "Here."}, Kind.WORKFLOW),
        ({"braintrust.input": "x", "gen_ai.request.model": "gpt-5"}, Kind.MODEL),
        ({"braintrust.input": "x", "gen_ai.operation.name": "invoke_agent"}, Kind.AGENT),
    ],
)
def test_what_a_span_is(attributes: dict[str, Any], kind: Kind | None) -> None:
    """Marks of the exporter say nothing, an experiment's frame is no agent's work, and the standard's operation decides."""
    facts = facts_of(span("x", attributes=attributes))
    assert (None if facts is None else facts.kind) == kind
