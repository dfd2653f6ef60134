"""LlamaIndex's own integration, where all is said in events."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, START_NS, span

LLAMA = Scope("llamaindex.opentelemetry.tracer")


def llama(
    name: str, parent: Span | None = None, second: int = 0, *, seconds: float = 1, **events: dict[str, Any]
) -> Span:
    """A span with one event for each keyword."""
    told = tuple(SpanEvent(event, START_NS, attributes) for event, attributes in events.items())
    started = {"started_ns": START_NS + second * SECOND_NS}
    return span(name, parent=parent, scope=LLAMA, events=told, seconds=seconds, **started)


def said(role: str, *blocks: dict[str, Any], **extra: Any) -> dict[str, Any]:
    """A ChatMessage."""
    return {"role": role, "additional_kwargs": extra, "blocks": list(blocks)}


def text(value: str) -> dict[str, Any]:
    """A block of text."""
    return {"block_type": "text", "text": value}


CALL = {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "refund", "tool_kwargs": {"order": "o_9"}}


def test_a_run_is_told_by_events() -> None:
    """The model's events have the messages, the tool's the arguments; the result is in the next call's messages."""
    asked = [said("system", text("You are bob.")), said("user", text("Refund o_9"))]
    later = [*asked, said("assistant", CALL), said("tool", text("done"), tool_call_id="c1", name="refund")]
    root = llama("FunctionAgent.run", seconds=9)
    step = llama("BaseWorkflowAgent.run_agent_step", root, seconds=3)
    spans = [
        root,
        step,
        llama(
            "OpenAI.achat", step, 1,
            LLMChatStartEvent={"messages": json.dumps(asked), "model_dict.model": "m"},
            LLMChatEndEvent={"response.message.role": "assistant", "response.message.blocks": json.dumps([CALL])},
        ),
        llama(
            "BaseWorkflowAgent.call_tool", root, 3,
            AgentToolCallEvent={"arguments": '{"order": "o_9"}', "tool.name": "refund", "tool.description": "…"},
        ),
        llama(
            "OpenAI.achat", root, 5,
            LLMChatStartEvent={"messages": json.dumps(later), "model_dict.model": "m"},
            LLMChatEndEvent={"response.message.role": "assistant", "response.message.blocks": json.dumps([text("Done.")])},
        ),
    ]  # fmt: skip
    (found,) = assemble(spans)
    assert (found.asked, found.reply, found.system, found.model) == ("Refund o_9", "Done.", "You are bob.", "m")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "done")
    ]


ENDED = (
    "StopEvent(result=AgentOutput(response=ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={}, "
    "blocks=[TextBlock(block_type='text', text="
)


@pytest.mark.parametrize(
    ("ended", "reply", "kinds"),
    [
        (ENDED + "'It\\'s done.')]), structured_resp...", "It's done.", []),
        (ENDED + '"It\'s done.")]), structured_resp...', "It's done.", []),
        (ENDED + "'It is do...", None, [GapKind.TRUNCATED]),
        (ENDED + "'It is'), TextBlock(block_type='text', text='do...", None, [GapKind.TRUNCATED]),
        ("StopEvent(result=3)", None, [GapKind.NOT_CAPTURED]),
    ],
    ids=["whole", "other-quotes", "cut", "several", "no-text"],
)
def test_the_answer_of_an_agent_that_streams(ended: str, reply: str | None, kinds: list[GapKind]) -> None:
    """Its model's span ends before the stream does; the event that ends the run is cut after 200 characters."""
    asked = json.dumps([said("user", text("Refund o_9"))])
    root = llama("FunctionAgent.run", seconds=9, **{"workflow.output": {"output": ended}})
    model = llama("OpenAI.astream_chat", root, 1, LLMChatStartEvent={"messages": asked})
    (found,) = assemble([root, model])
    assert (found.asked, found.reply) == ("Refund o_9", reply)
    assert [gap.kind for gap in found.gaps if gap.field == "reply"] == kinds


def test_a_workflow_of_the_programs_own_steps() -> None:
    """Its reply is what it returned, and not what the model said in one of its steps."""
    root = llama("Flow.run", seconds=9, **{"workflow.output": {"output": "StopEvent(result='Hello. Bye.')"}})
    step = llama("Flow.draft", root)
    asked = json.dumps([said("user", text("Greet"))])
    answer = {"response.message.role": "assistant", "response.message.blocks": json.dumps([text("Hello.")])}
    model = llama("OpenAI.achat", step, 1, LLMChatStartEvent={"messages": asked}, LLMChatEndEvent=answer)
    (found,) = assemble([root, step, model])
    assert (found.agent, found.asked, found.reply) == ("Flow", "Greet", "Hello. Bye.")


def test_a_completion() -> None:
    """A model without messages has a prompt and a text."""
    facts = facts_of(llama("X.complete", LLMCompletionEndEvent={"prompt": "hi", "response.text": "hello"}))
    assert facts is not None
    assert [message.text for message in (*(facts.input or ()), *(facts.output or ()))] == ["hi", "hello"]


def workflow_step(name: str, parent: Span, second: int, summary: str, **more: Any) -> Span:
    """A step of a workflow, with the event it took as Python writes it."""
    made = llama(name, parent, second, **more)
    return replace(made, attributes={"llamaindex.step.input_summary": summary})


def test_a_step_that_calls_a_tool_has_its_name_and_its_error_below() -> None:
    """The event may be cut; the name is at its beginning."""
    root = llama("FunctionAgent.run", seconds=9)
    whole = "ToolCall(tool_name='refund', tool_kwargs={'order': 'o_9'}, tool_id='c1')"
    step = workflow_step("BaseWorkflowAgent.call_tool", root, 1, whole)
    inner = replace(workflow_step("FunctionTool.acall", step, 1, whole), status="error", status_message="down")
    cut = workflow_step(
        "BaseWorkflowAgent.call_tool", root, 3, "ToolCall(tool_name='find', tool_kwargs={'text': 'aa..."
    )
    (found,) = assemble([root, step, inner, cut])
    assert [(call.name, call.arguments, call.error) for call in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "down"),
        ("find", None, None),
    ]


def test_the_agents_name_is_in_a_step() -> None:
    """The run's own span is named after its class."""
    root = llama("FunctionAgent.run")
    step = workflow_step("BaseWorkflowAgent.setup_agent", root, 0, "AgentInput(input=[…], current_agent_name='bob')")
    (found,) = assemble([root, step])
    assert found.agent == "bob"


REACT = "…\nThought: I need to use a tool.\nAction: tool name\nAction Input: {…}\n…\nThought: I can answer.\nAnswer: …"


def test_a_react_agents_tools_are_in_its_texts() -> None:
    """What it thinks is no part of the reply."""
    turn = [said("system", text(REACT)), said("user", text("Refund o_9"))]
    wants = said("assistant", text('Thought: A tool.\nAction: refund\nAction Input: {"order": "o_9"}'))
    later = [*turn, wants, said("user", text("Observation: done"))]
    root = llama("ReActAgent.run", seconds=9)
    calls = [
        llama(
            "OpenAI.achat", root, second,
            LLMChatStartEvent={"messages": json.dumps(given)},
            LLMChatEndEvent={"response.message.role": "assistant", "response.message.blocks": json.dumps(gave["blocks"])},
        )
        for second, given, gave in (
            (1, turn, wants),
            (3, later, said("assistant", text("Thought: I know.\nAnswer: It is refunded."))),
        )
    ]  # fmt: skip
    (found,) = assemble([root, *calls])
    assert (found.asked, found.reply) == ("Refund o_9", "It is refunded.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "done")
    ]


@pytest.mark.parametrize("answer", ["Thought: I know.\nAnswer: yes", "Action: refund"])
def test_without_its_instructions_it_is_a_text(answer: str) -> None:
    """A model may write that to somebody."""
    found = facts_of(
        llama(
            "OpenAI.achat",
            LLMChatStartEvent={"messages": json.dumps([said("user", text("hi"))])},
            LLMChatEndEvent={
                "response.message.role": "assistant",
                "response.message.blocks": json.dumps([text(answer)]),
            },
        )
    )
    assert found is not None
    assert found.output is not None
    assert found.output[0].text == answer
