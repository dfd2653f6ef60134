"""Mastra 0.x with ``telemetry``: which of its many spans are an agent's work, and what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Failure, GapKind, Usage
from otel_eval.signals import Span
from otel_eval.testing.spans import span

MODEL = "workflow.executionWorkflow.step.llm-execution"
TOOL_STEP = "workflow.executionWorkflow.step.toolCallStep"
RAISED = {
    "message": "ticket system down",
    "details": {"message": "ticket system down", "domain": "TOOL", "category": "USER", "details": {}},
    "code": "TOOL_EXECUTION_FAILED",
}


def method(name: str, *arguments: object, result: object = None, **attributes: Any) -> Span:
    """The span of an agent's method."""
    own: dict[str, Any] = {"componentName": "shop"}
    own |= {f"{name}.argument.{place}": json.dumps(argument) for place, argument in enumerate(arguments)}
    own |= {} if result is None else {f"{name}.result": result if isinstance(result, str) else json.dumps(result)}
    return span(name, attributes={**own, **attributes})


def read(made: Span) -> Facts:
    """The facts of such a span."""
    facts = facts_of(made)
    assert facts is not None
    return facts


@pytest.mark.parametrize(
    "name", ["agent.generate", "agent.stream", "agent.generateLegacy", "agent.streamVNext", "agent.generateVNext"]
)
def test_an_invocation(name: str) -> None:
    """Who was asked what, and what came of it."""
    facts = read(method(name, "Where is it?", {"maxSteps": 3}, result={"text": "Here.", "finishReason": "stop"}))
    assert (facts.kind, facts.agent, facts.reply) == (Kind.AGENT, "shop", "Here.")
    assert [said.text for said in facts.input or ()] == ["Where is it?"]


@pytest.mark.parametrize(
    "name",
    [
        "agent.resolveModelConfig",
        "agent.convertTools",
        "mastra.generateId",
        "mastra.stream.aisdk.doStream",
        "workflow.x.execute",
    ],
)
def test_plumbing_is_ordinary(name: str) -> None:
    """Other methods, and the steps of the loop."""
    assert facts_of(method(name, {"a": 1}, result={"text": "no"})) is None


def test_an_agent_within_anothers_tool_has_no_name() -> None:
    """The component's name is that of the loop that called the tool."""
    tool = {"stream.toolCall.toolName": "agent-refunds", "stream.toolCall.args": '{"prompt": "Refund o_9"}'}
    outer = method("agent.stream", "Where is o_9?", result={"text": "Refunded.", "finishReason": "stop"})
    asked = {"inputData": {"toolName": "agent-refunds", "args": {"prompt": "Refund o_9"}}}
    step = span(TOOL_STEP, parent=outer, seconds=0.9, attributes=method(TOOL_STEP, asked).attributes)
    call = span("mastra.stream.toolCall", parent=step, seconds=0.9, attributes=tool)
    run = method("agent.stream", "Refund o_9", result={"text": "Done.", "finishReason": "stop"})
    name = {"componentName": "executionWorkflow"}
    run = span("agent.stream", parent=step, seconds=0.8, attributes={**run.attributes, **name})
    found, nested = assemble([outer, step, call, run])
    assert [(call.name, call.arguments) for call in found.tool_calls] == [("agent-refunds", {"prompt": "Refund o_9"})]
    assert (found.agent, found.asked, found.reply) == ("shop", "Where is o_9?", "Refunded.")
    assert (nested.agent, nested.asked, nested.reply) == (None, "Refund o_9", "Done.")
    assert nested.parent_id == found.id


def test_a_span_of_that_name_that_is_no_agents_is_ordinary() -> None:
    """Somebody else's ``agent.generate``."""
    assert facts_of(span("agent.generate", attributes={"agent.generate.argument.0": '"hi"'})) is None


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Hi", [("user", "Hi")]),
        ('{"a": 1}', [("user", '{"a": 1}')]),
        (["Hi", "there"], [("user", "Hi"), ("user", "there")]),
        ({"role": "user", "content": "Hi"}, [("user", "Hi")]),
        (
            [
                {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
                {"role": "assistant", "content": "Yes?"},
                {"role": "user", "parts": [{"type": "text", "text": "Where?"}]},
            ],
            [("user", "Hi"), ("assistant", "Yes?"), ("user", "Where?")],
        ),
    ],
)
def test_what_was_asked(asked: object, said: list[tuple[str, str]]) -> None:
    """A text as it was typed, or messages."""
    facts = read(method("agent.generate", asked))
    assert [(message.role, message.text) for message in facts.input or ()] == said


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"memory": {"thread": "t1", "resource": "u1"}}, ("t1", "u1")),
        ({"memory": {"thread": {"id": "t1"}, "resource": "u1"}}, ("t1", "u1")),
        ({"threadId": "t1", "resourceId": "u1"}, ("t1", "u1")),
        ({"memory": {"thread": {"title": "x"}}}, (None, None)),
        ("odd", (None, None)),
        (None, (None, None)),
    ],
)
def test_the_conversation_and_the_user(options: object, expected: tuple[str | None, str | None]) -> None:
    """As the caller named them, in the ways of any version."""
    facts = read(method("agent.generate", "Hi", options))
    assert (facts.session, facts.user_id) == expected


CALL = {"toolCallId": "c1", "toolName": "getOrder", "args": {"id": 9}}
GAVE = {"toolCallId": "c1", "toolName": "getOrder", "args": {"id": 9}, "result": {"status": "sent"}}


@pytest.mark.parametrize(
    "result",
    [
        {"text": "Sent.", "steps": [{"toolCalls": [CALL], "toolResults": [GAVE]}, {"toolCalls": [], "text": "Sent."}]},
        {
            "text": "Sent.",
            "toolCalls": [{"type": "tool-call", "payload": CALL}],
            "toolResults": [{"type": "tool-result", "payload": GAVE}],
        },
    ],
    ids=["until 0.13", "since 0.14"],
)
def test_tools_that_no_span_tells_of(result: object) -> None:
    """They stand in what the invocation gave."""
    (found,) = assemble([method("agent.generate", "Where is o_9?", result=result)])
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("getOrder", {"id": 9}, {"status": "sent"})
    ]
    assert (found.asked, found.reply) == ("Where is o_9?", "Sent.")


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        ({"text": "", "object": {"ok": True}, "finishReason": "stop"}, '{"ok":true}'),
        ({"text": "", "finishReason": "stop"}, ""),
        ({"text": "", "finishReason": "tool-calls"}, None),
        ("[Not Serializable]", None),
        ("[1, 2]", None),
    ],
)
def test_replies_that_are_no_text(result: object, reply: str | None) -> None:
    """The object of a structured answer; an empty text is one where the model had finished."""
    facts = read(method("agent.generate", "Hi", result=result))
    assert facts.reply == reply
    assert facts.marks == ()


def test_a_cut_argument_is_a_gap() -> None:
    """A length limit leaves no JSON."""
    asked = {"agent.generate.argument.0": '[{"role": "user", "content": "Wher'}
    cut = method("agent.generate", result={"text": "Here."}, **asked)
    gap = assemble([cut])[0].gap("asked")
    assert gap is not None
    assert gap.kind is GapKind.TRUNCATED


def test_a_pass_of_the_loop_is_a_model_call() -> None:
    """With what went in, what came out, and the instructions of the provider's request."""
    taken = {"inputData": {"messages": {"all": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}}}
    gave = {
        "stepResult": {"reason": "tool-calls"},
        "metadata": {
            "id": "r1",
            "modelId": "gpt",
            "request": {"body": {"messages": [{"role": "system", "content": "Be kind."}]}},
        },
        "output": {"text": "", "toolCalls": [CALL], "usage": {"inputTokens": 20, "outputTokens": 10}},
    }
    facts = read(method(MODEL, taken, result=gave))
    assert (facts.kind, facts.model, facts.response_id, facts.system) == (Kind.MODEL, "gpt", "r1", "Be kind.")
    assert facts.usage == Usage(input_tokens=20, output_tokens=10)
    assert [said.text for said in facts.input or ()] == ["Hi"]
    assert [len(said.parts) for said in facts.output or ()] == [1]
    assert facts.failure is None


@pytest.mark.parametrize(
    "body",
    [
        {"instructions": "Be kind."},
        {"system": [{"type": "text", "text": "Be kind."}]},
        {"systemInstruction": {"parts": [{"text": "Be kind."}]}},
        '{"input": [{"role": "developer", "content": "Be kind."}]}',
    ],
)
def test_instructions_in_the_request_of_any_provider(body: object) -> None:
    """Mastra writes the request as it was sent."""
    assert read(method(MODEL, {}, result={"metadata": {"request": {"body": body}}})).system == "Be kind."


def test_messages_that_nest_deeper_than_is_written() -> None:
    """Since 0.21 what went in stands whole beside what came out alone."""
    cut = [{"role": "user", "content": [{"type": "[MaxDepth]", "text": "[MaxDepth]"}]}]
    whole = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    facts = read(method(MODEL, {"inputData": {"messages": {"all": cut}}}, result={"messages": {"all": whole}}))
    assert [said.text for said in facts.input or ()] == ["Hi"]
    assert read(method(MODEL, {"inputData": {"messages": {"all": cut}}}, result={})).input is None


def test_an_invocation_whose_span_does_not_wait_is_a_frame() -> None:
    """``generate`` since 0.21: its span ends at once; before ``stream`` has come, nothing is told."""
    frame = method("agent.generate", "Hi")
    frame = span("agent.generate", seconds=0.001, attributes=frame.attributes)
    run = method("agent.stream", "Hi", result={"text": "Yes?", "finishReason": "stop"})
    run = span("agent.stream", parent=frame, seconds=9, attributes=run.attributes)
    assert assemble([frame]) == ()
    (found,) = assemble([frame, run])
    assert (found.span_id, found.agent, found.asked, found.reply) == (frame.span_id, "shop", "Hi", "Yes?")


def test_an_endpoint_that_fails() -> None:
    """The invocation has no result, and its last call says so."""
    run = method("agent.generate", "Hi")
    passed = method(MODEL, {}, result={"stepResult": {"reason": "error"}, "output": {"text": "", "toolCalls": []}})
    failed = {
        "componentName": "shop",
        "aisdk.model.id": "gpt",
        "stream.prompt.messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]),
        "stream.response.finishReason": "error",
        "stream.response.text": "",
    }
    spans = [
        span(MODEL, parent=run, attributes=passed.attributes),
        span("mastra.stream", parent=run, attributes=failed),
    ]
    (found,) = assemble([run, *spans])
    assert (found.agent, found.asked, found.reply) == ("shop", "Hi", None)
    assert found.failure == Failure(message="the finish reason is error")
    assert [call.model for call in found.model_calls] == ["gpt"]
    (alone,) = assemble(spans)  # of a stream that failed the agent's own span never ends
    assert (alone.agent, alone.asked, alone.failure, alone.complete) == ("shop", "Hi", found.failure, False)


def test_the_span_of_a_stream_is_a_step() -> None:
    """It repeats what the agent's span and the passes of the loop say."""
    attributes = {"componentName": "shop", "stream.response.finishReason": "stop", "stream.response.text": "Here."}
    facts = read(span("mastra.stream", attributes=attributes))
    assert (facts.kind, facts.reply, facts.failure) == (Kind.STEP, "Here.", None)


@pytest.mark.parametrize(
    ("result", "gave", "error"),
    [
        ('{"status": "sent"}', {"status": "sent"}, None),
        ('"18C"', "18C", None),
        (json.dumps(RAISED), None, "ticket system down"),
        (None, None, None),
    ],
)
def test_tools(result: str | None, gave: object, error: str | None) -> None:
    """One that raised gives back Mastra's error as an object."""
    attributes = {
        "stream.toolCall.toolName": "getOrder",
        "stream.toolCall.toolCallId": "c1",
        "stream.toolCall.args": '{"id": 9}',
        **({} if result is None else {"stream.toolCall.result": result}),
    }
    facts = read(span("mastra.stream.toolCall", attributes=attributes))
    assert (facts.kind, facts.tool, facts.call_id, facts.arguments) == (Kind.TOOL, "getOrder", "c1", {"id": 9})
    assert facts.error == error
    assert error is not None or facts.result == (MISSING if result is None else gave)


@pytest.mark.parametrize(
    ("taken", "gave", "expected"),
    [
        ({"args": {"id": 9}}, {"result": {"status": "sent"}}, ({"id": 9}, {"status": "sent"}, None)),
        ({"args": {"id": 9}}, {"result": RAISED}, ({"id": 9}, RAISED, "ticket system down")),
        ({"args": {"a": "[MaxDepth]"}}, {"result": ["[MaxDepth]"]}, (MISSING, MISSING, None)),
        ({}, {}, (MISSING, MISSING, None)),
    ],
)
def test_the_step_around_a_tool(taken: dict[str, Any], gave: dict[str, Any], expected: tuple[Any, ...]) -> None:
    """It says the same as the tool's span, though not what nests deep."""
    asked = {"inputData": {"toolName": "find", "toolCallId": "c1", **taken}}
    facts = read(method(TOOL_STEP, asked, result=gave))
    assert (facts.kind, facts.tool, facts.call_id) == (Kind.TOOL, "find", "c1")
    assert (facts.arguments, facts.result, facts.error) == expected


def test_one_run_with_all_its_spans() -> None:
    """``generate`` runs ``stream``, whose loop is a workflow: one Interaction, each tool and call once."""
    run = method("agent.generate", "Where is o_9?")
    result = {
        "text": "Sent.",
        "finishReason": "stop",
        "toolCalls": [{"payload": CALL}],
        "toolResults": [{"payload": GAVE}],
        "usage": {"inputTokens": 60, "outputTokens": 30},
    }
    inner = method("agent.stream", "Where is o_9?", {"methodType": "generate"}, result=result)
    inner = span("agent.stream", parent=run, seconds=0.9, attributes=inner.attributes)
    loop = span(
        "workflow.agentic-loop.execute", parent=inner, seconds=0.8, attributes={"componentName": "agentic-loop"}
    )
    spans = [run, inner, loop]
    for place, (said, calls) in enumerate((("", [CALL]), ("Sent.", []))):
        output = {"text": said, "toolCalls": calls, "usage": {"inputTokens": 20, "outputTokens": 10}}
        made = method(MODEL, {}, result={"output": output})
        spans.append(
            span(
                MODEL,
                parent=loop,
                started_ns=run.started_ns + (2 * place + 1) * 100,
                seconds=0.1,
                attributes=made.attributes,
            )
        )
    tool = {
        "stream.toolCall.toolName": "getOrder",
        "stream.toolCall.toolCallId": "c1",
        "stream.toolCall.args": '{"id": 9}',
        "stream.toolCall.result": '{"status": "sent"}',
    }
    spans.append(
        span("mastra.stream.toolCall", parent=loop, started_ns=run.started_ns + 200, seconds=0.1, attributes=tool)
    )
    (found,) = assemble(spans)
    assert (found.agent, found.asked, found.reply) == ("shop", "Where is o_9?", "Sent.")
    assert [(call.name, call.result) for call in found.tool_calls] == [("getOrder", {"status": "sent"})]
    assert (len(found.model_calls), found.usage) == (2, Usage(input_tokens=40, output_tokens=20))
