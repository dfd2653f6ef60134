"""Vercel AI SDK: ``ai.*`` of 3.3 to 7, with its generations of names."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, Interaction, Message
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, START_NS, span

AI = Scope("ai")
ASKED = json.dumps({"prompt": "Where is o_9?"})


def operation(name: str, attributes: dict[str, Any], **fields: Any) -> Span:
    """A span of the SDK's, which is named after its operation."""
    return span(name, attributes={"ai.operationId": name, **attributes}, scope=AI, **fields)


def read(name: str, attributes: dict[str, Any], **fields: Any) -> Facts:
    """The facts of such a span."""
    facts = facts_of(operation(name, attributes, **fields))
    assert facts is not None
    return facts


def run(*, output: dict[str, Any], model: dict[str, Any], tool: dict[str, Any], **fields: Any) -> Interaction:
    """A run with one model's call and one tool's."""
    agent = operation(
        "ai.generateText",
        {"ai.telemetry.functionId": "shop", "ai.prompt": '{"system":"Be kind.","prompt":"Where is it?"}', **output},
        **fields,
    )
    asked = {"ai.prompt.messages": '[{"role":"user","content":[{"type":"text","text":"Where is it?"}]}]', **model}
    return assemble(
        [
            agent,
            operation("ai.generateText.doGenerate", asked, parent=agent),
            operation("ai.toolCall", {"ai.toolCall.name": "find", "ai.toolCall.id": "c1", **tool}, parent=agent),
        ]
    )[0]


@pytest.mark.parametrize(
    ("output", "model"),
    [
        (
            {"ai.response.text": "Here."},
            {"ai.response.toolCalls": '[{"toolCallId":"c1","toolName":"find","args":"{\\"id\\": 81}"}]'},
        ),  # 4
        (
            {"ai.response.text": "Here."},
            {"ai.response.toolCalls": '[{"toolCallId":"c1","toolName":"find","input":{"id":81}}]'},
        ),  # 5 to 7
        (
            {"ai.result.text": "Here."},
            {"ai.result.toolCalls": '[{"toolCallId":"c1","toolName":"find","args":{"id":81}}]'},
        ),  # 3.3
    ],
)
def test_a_run_in_each_generation_of_names(output: dict[str, Any], model: dict[str, Any]) -> None:
    """The question, the reply and the tool call are the same under the names of 3.3, 4 and 5."""
    found = run(output=output, model=model, tool={"ai.toolCall.args": '{"id":81}', "ai.toolCall.result": '"paid"'})
    assert (found.agent, found.asked, found.reply, found.system) == ("shop", "Where is it?", "Here.", "Be kind.")
    (call,) = found.tool_calls
    assert (call.name, call.arguments, call.result, call.call_id) == ("find", {"id": 81}, "paid", "c1")


def test_content_off_leaves_gaps_with_the_setting() -> None:
    """Without inputs and outputs the names stay, and the gaps say what to switch on."""
    agent = operation("ai.generateText", {"ai.telemetry.functionId": "shop"})
    tool = operation("ai.toolCall", {"ai.toolCall.name": "find"}, parent=agent)
    found = assemble([agent, operation("ai.generateText.doGenerate", {"ai.model.id": "m"}, parent=agent), tool])[0]
    assert (found.asked, found.reply, found.tool_calls[0].name) == (None, None, "find")
    gap = found.gap("reply")
    assert gap is not None
    assert gap.kind is GapKind.NOT_CAPTURED
    assert "recordOutputs: true" in (gap.setting or "")


def test_a_prompt_that_looks_like_json_is_what_was_typed() -> None:
    """The user's text is not taken apart."""
    facts = read("ai.streamText", {"ai.prompt": json.dumps({"prompt": '{"role": "user", "content": "hi"}'})})
    assert facts.input is not None
    assert facts.input[0].text == '{"role": "user", "content": "hi"}'


def test_a_prompt_may_be_a_list_of_messages() -> None:
    """Since 5 ``prompt`` takes messages, too; ``system`` may be one."""
    prompt = {"system": {"role": "system", "content": "Be kind."}, "prompt": [{"role": "user", "content": "Hi"}]}
    facts = read("ai.generateText", {"ai.prompt": json.dumps(prompt)})
    assert facts.system == "Be kind."
    assert [message.text for message in facts.input or ()] == ["Hi"]


@pytest.mark.parametrize(
    ("attributes", "reply"),
    [
        ({"ai.response.object": '{"score":0.9}'}, '{"score":0.9}'),
        ({"ai.response.text": ""}, ""),
        ({"ai.response.text": "", "ai.response.toolCalls": '[{"toolCallId":"c","toolName":"t","input":{}}]'}, None),
        ({"ai.response.text": "Wait.", "ai.response.toolCalls": '[{"toolName":"t","input":{}}]'}, "Wait."),
        ({}, None),
    ],
)
def test_replies(attributes: dict[str, Any], reply: str | None) -> None:
    """An object is a reply, an empty text is one, and a run that ends with a tool call has none."""
    assert read("ai.generateObject", attributes).reply == reply


def test_a_tool_that_raises_says_its_own_error_and_not_the_wrappers() -> None:
    """4 writes two exceptions: the tool's, then its wrapper's."""
    events = tuple(
        SpanEvent(name="exception", time_ns=order, attributes={"exception.type": kind, "exception.message": message})
        for order, (kind, message) in enumerate((("Error", "down"), ("AI_ToolExecutionError", "Error executing: down")))
    )
    facts = read("ai.toolCall", {"ai.toolCall.name": "find"}, status="error", events=events)
    assert facts.error == "Error: down"
    assert facts.result is MISSING


def test_a_cut_prompt_is_a_gap() -> None:
    """A prompt that a length limit cut is not taken for a text."""
    facts = read("ai.generateText", {"ai.prompt": '{"system":"Be kind.","prompt":"Where is'})
    assert facts.input is None
    assert [(mark.field, mark.kind) for mark in facts.marks] == [("input", GapKind.TRUNCATED)]


@pytest.mark.parametrize("name", ["ai.embed", "ai.embed.doEmbed", "ai.rerank", "ai.transcribe", "ai.generateSpeech"])
def test_other_operations_are_no_agents_work(name: str) -> None:
    """Embeddings and speech are left out, although they name a model."""
    assert facts_of(operation(name, {"gen_ai.request.model": "m", "ai.model.id": "m"})) is None


def test_usage_and_reasoning_of_a_call() -> None:
    """Tokens are read under the names of 5 with their details, and what the model thought is no part of its text."""
    facts = read(
        "ai.streamText.doStream",
        {
            "ai.usage.inputTokens": 40,
            "ai.usage.outputTokens": 2,
            "ai.usage.cachedInputTokens": 30,
            "ai.response.text": "Hi",
            "ai.response.reasoning": "Say hi.",
            "ai.response.finishReason": "stop",
        },
    )
    assert (facts.kind, facts.finish_reasons) == (Kind.MODEL, ("stop",))
    assert (facts.usage.input_tokens, facts.usage.output_tokens, facts.usage.cache_read_tokens) == (40, 2, 30)
    assert isinstance((facts.output or ())[0], Message)
    assert (facts.output or ())[0].text == "Hi"


def test_the_first_error_of_the_trace_is_not_that_of_every_span() -> None:
    """OpenInference's processor writes a tool's error as status of all that ends after it, the run and the next tool too."""
    shared: dict[str, Any] = {"status": "error", "status_message": "no route"}
    agent = operation(
        "ai.generateText",
        {"ai.prompt": '{"prompt":"Where is it?"}', "ai.response.text": "Here.", "openinference.span.kind": "AGENT"},
        **shared,
    )
    tool = {"ai.toolCall.name": "find", "ai.toolCall.args": "{}", "openinference.span.kind": "TOOL"}
    raised = SpanEvent("exception", attributes={"exception.type": "Error", "exception.message": "no route"})
    found = assemble(
        [
            agent,
            operation("ai.toolCall", tool, parent=agent, events=(raised,), **shared),
            operation("ai.toolCall", {**tool, "ai.toolCall.result": '"81"'}, parent=agent, **shared),
        ]
    )[0]
    assert found.failure is None
    assert {call.result: call.error is None for call in found.tool_calls} == {None: False, "81": True}


def test_a_stream_that_broke_off_says_so_in_its_finish_reason() -> None:
    """Its span has neither an exception nor a status."""
    facts = read("ai.streamText", {"ai.response.finishReason": "error", "ai.response.text": "Her"})
    assert facts.failure is not None


@pytest.mark.parametrize(
    ("version", "later", "failed"),
    [(4, False, True), (4, True, False), (5, False, False)],
    ids=["until 4", "until 4, with a call after it", "since 5"],
)
def test_a_tool_that_raises_ends_a_stream_until_4(version: int, later: bool, failed: bool) -> None:
    """The span of ``streamText`` does not say so; since 5 the model is told of the error."""
    usage = {"ai.usage.completionTokens" if version == 4 else "ai.usage.outputTokens": 10}
    run = span("ai.streamText", seconds=9, attributes={"ai.operationId": "ai.streamText", "ai.prompt": ASKED, **usage})

    def below(name: str, at: int, **fields: Any) -> Span:
        attributes = {"ai.operationId": name, **fields.pop("attributes", {})}
        started_ns = run.started_ns + at * 1_000_000_000
        return span(name, parent=run, started_ns=started_ns, attributes=attributes, **fields)

    spans = [run, below("ai.streamText.doStream", 1)]
    name = {"ai.toolCall.name": "find"}
    spans.append(below("ai.toolCall", 3, attributes=name, status="error", status_message="ticket system down"))
    if later:
        spans.append(below("ai.streamText.doStream", 5, attributes={"ai.response.text": "Sorry."}))
    (found,) = assemble(spans)
    assert (found.failed, found.tool_calls[0].error) == (failed, "ticket system down")


ASKED_TO_WIPE = {"role": "user", "content": "Wipe sda"}
WIPE = {"type": "tool-call", "toolCallId": "c1", "toolName": "wipe", "input": {"disk": "sda"}}


@pytest.mark.parametrize(
    ("told", "result", "error"),
    [
        ({"type": "text", "value": "gone"}, "gone", None),
        ({"type": "execution-denied", "reason": "no way"}, None, "no way"),
        ({"type": "execution-denied"}, None, "Tool execution denied."),
    ],
)
def test_an_approved_call_is_one_of_the_run_that_begins_with_it(
    told: dict[str, Any], result: str | None, error: str | None
) -> None:
    """7 writes no span of it; the agent's prompt ends with the call, the model's begins with what it gave."""
    asking = {"role": "assistant", "content": [WIPE, {"type": "tool-approval-request", "approvalId": "a"}]}
    leave = {"role": "tool", "content": [{"type": "tool-approval-response", "approvalId": "a", "approved": True}]}
    given = {"role": "tool", "content": [{**WIPE, "type": "tool-result", "output": told}]}
    agent = operation(
        "ai.generateText",
        {"ai.prompt": json.dumps({"messages": [ASKED_TO_WIPE, asking, leave]}), "ai.response.text": "Well."},
    )
    prompt = json.dumps([ASKED_TO_WIPE, {"role": "assistant", "content": [WIPE]}, given])
    (found,) = assemble(
        [agent, operation("ai.generateText.doGenerate", {"ai.prompt.messages": prompt}, parent=agent, seconds=0.5)]
    )
    (call,) = found.tool_calls
    assert (found.asked, call.name, call.arguments) == ("Wipe sda", "wipe", {"disk": "sda"})
    assert (call.result, call.error) == (result, error)


def test_a_refused_call_in_the_standards_messages() -> None:
    """``@ai-sdk/otel`` writes an object of its own, which is a tool's result like any other where a span has it."""
    refused = {"denied": True, "reason": "no way"}
    call = {"type": "tool_call", "id": "c1", "name": "wipe", "arguments": {"disk": "sda"}}
    asked = {"role": "user", "parts": [{"type": "text", "content": "Wipe sda"}]}
    before = [
        asked,
        {"role": "assistant", "parts": [call, {"type": "tool-approval-request"}]},
        {"role": "tool", "parts": [{"type": "tool-approval-response"}]},
    ]
    told = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": refused}]}
    agent = span(
        "invoke_agent",
        attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": json.dumps(before)},
        scope=Scope("gen_ai"),
    )
    model = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps([*before, told])}
    (found,) = assemble([agent, span("chat", attributes=model, parent=agent)])
    assert [(call.name, call.result, call.error) for call in found.tool_calls] == [("wipe", None, "no way")]
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "wipe", "gen_ai.tool.call.id": "c1"}
    ran = span("t", attributes={**tool, "gen_ai.tool.call.result": json.dumps(refused)}, parent=agent)
    (found,) = assemble([agent, ran])
    assert [(call.result, call.error) for call in found.tool_calls] == [(refused, None)]


def test_the_standards_messages_come_before_openinferences() -> None:
    """Its processor makes one message of several results, calls a step a model's call, and keeps the SDK's attributes."""
    results = [{"type": "tool_call_response", "id": f"c{n}", "response": f"AI_NoSuchToolError: {n}"} for n in (1, 2)]
    calls = [{"type": "tool_call", "id": f"c{n}", "name": "find", "arguments": {"n": n}} for n in (1, 2)]
    asked = {"role": "user", "parts": [{"type": "text", "content": "Find."}]}
    said = [asked, {"role": "assistant", "parts": calls}, *({"role": "tool", "parts": [item]} for item in results)]
    llm = {"openinference.span.kind": "LLM"}
    agent = span(
        "invoke_agent m",
        attributes={"gen_ai.operation.name": "invoke_agent", "openinference.span.kind": "AGENT"},
        scope=Scope("gen_ai"),
    )
    step = span("step 1", attributes={"gen_ai.operation.name": "agent_step", **llm}, parent=agent)
    model = span(
        "chat m",
        attributes={
            **llm,
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(said),
            "llm.input_messages.0.message.role": "tool",
            "llm.input_messages.0.message.tool_call_id": "c2",
            "llm.input_messages.0.message.contents.0.message_content.text": "AI_NoSuchToolError: 1",
            "llm.input_messages.0.message.contents.1.message_content.text": "AI_NoSuchToolError: 2",
        },
        parent=step,
    )
    facts = facts_of(step)
    assert facts is not None
    assert facts.kind is Kind.STEP
    first = {**llm, "gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps([asked])}
    asking = span("chat m", attributes={**first, "gen_ai.output.messages": json.dumps([said[1]])}, parent=step)
    (found,) = assemble([agent, step, asking, replace(model, started_ns=model.started_ns + 9)])
    assert [call.error for call in found.tool_calls] == ["AI_NoSuchToolError: 1", "AI_NoSuchToolError: 2"]


def passed(parent: Span, second: int, messages: list[Any], output: dict[str, Any], agent: str = "shop") -> list[Span]:
    """One pass of a loop that the program runs itself: a run of one call, and that call."""
    times = {"started_ns": START_NS + second * SECOND_NS, "ended_ns": START_NS + (second + 1) * SECOND_NS}
    own = {"ai.telemetry.functionId": agent, **output}
    shown = {"ai.prompt": json.dumps({"messages": messages}), **own}
    around = operation("ai.generateText", shown, parent=parent, **times)
    said = {"ai.prompt.messages": json.dumps(messages), **own}
    return [around, operation("ai.generateText.doGenerate", said, parent=around, **times)]


@pytest.mark.parametrize(
    ("second_agent", "call_id", "more", "count"),
    [("shop", "c1", [], 1), ("other", "c1", [], 2), ("shop", "c9", [], 2), ("shop", "c1", ["And?"], 2)],
)
def test_a_loop_of_the_programs_own(second_agent: str, call_id: str, more: list[str], count: int) -> None:
    """Its passes are one Interaction: what was said before a tool was asked for is no reply, and the results are there."""
    root = span("POST /chat", seconds=20)
    asked = {"role": "user", "content": "roll and tell"}
    calls = [{"toolCallId": "c1", "toolName": "roll", "input": {"sides": 66}}]
    shown = {"type": "tool-call", "toolCallId": call_id, "toolName": "roll", "input": {"sides": 66}}
    gave = {"type": "tool-result", "toolCallId": call_id, "toolName": "roll", "output": {"type": "text", "value": "6"}}
    history = [asked, {"role": "assistant", "content": [shown]}, {"role": "tool", "content": [gave]}]
    history += [{"role": "user", "content": said} for said in more]
    first = {
        "ai.response.finishReason": "tool-calls",
        "ai.response.text": "Let me look.",
        "ai.response.toolCalls": json.dumps(calls),
    }
    last = {"ai.response.finishReason": "stop", "ai.response.text": "You got 6"}
    found = assemble([root, *passed(root, 1, [asked], first), *passed(root, 5, history, last, second_agent)])
    assert len(found) == count
    if count == 1:
        assert (found[0].agent, found[0].asked, found[0].reply) == ("shop", "roll and tell", "You got 6")
        assert [(call.name, call.arguments, call.result) for call in found[0].tool_calls] == [
            ("roll", {"sides": 66}, "6")
        ]
        assert len(found[0].model_calls) == 2
