"""LlamaIndex's own integration, where all is said in events."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
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


def test_a_completion() -> None:
    """A model without messages has a prompt and a text."""
    facts = facts_of(llama("X.complete", LLMCompletionEndEvent={"prompt": "hi", "response.text": "hello"}))
    assert facts is not None
    assert [message.text for message in (*(facts.input or ()), *(facts.output or ()))] == ["hi", "hello"]
