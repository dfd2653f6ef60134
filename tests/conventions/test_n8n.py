"""n8n's agents: its own loop around the Vercel AI SDK's single calls."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

SCOPE = Scope("@n8n/agents", "")
CATALOG = json.dumps({"agent": "shop", "tool_count": 1, "tools": [{"name": "order", "type": "local"}]})
ASKED = {"role": "user", "content": [{"type": "text", "text": "Refund A81"}]}


def root(**more: Any) -> Span:
    """The agent's span, with the list of its tools for a prompt."""
    own = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop", "gen_ai.conversation.id": "th-7"}
    return span("shop.generate", scope=SCOPE, seconds=20, attributes={**own, "gen_ai.prompt": CATALOG, **more})


def model(
    parent: Span, second: int, reason: str, text: str | None = None, calls: Any = None, **more: Any
) -> list[Span]:
    """``ai.generateText`` with the call within it; without a text as where content is off."""
    said = {
        "ai.response.finishReason": reason,
        "ai.response.text": text,
        "ai.response.toolCalls": json.dumps(calls) if calls else None,
        "ai.telemetry.functionId": "shop",
        "ai.model.id": "gpt-x",
    }
    prompt = {"ai.prompt": json.dumps({"messages": [ASKED]})} if text is not None else {}
    messages = {"ai.prompt.messages": json.dumps([ASKED])} if text is not None else {}
    times = {"started_ns": START_NS + second * SECOND_NS, "ended_ns": START_NS + (second + 1) * SECOND_NS}

    def made(name: str, above: Span, went_in: dict[str, str]) -> Span:
        attributes = {"ai.operationId": name, **said, **went_in, **more}
        return span(name, parent=above, scope=SCOPE, attributes=attributes, **times)

    outer = made("ai.generateText", parent, prompt)
    return [outer, made("ai.generateText.doGenerate", outer, messages)]


def tool(parent: Span, second: int, name: str, call_id: str, result: Any) -> Span:
    """A tool's span, in both conventions."""
    both = {"arguments": '{"id":"A81"}', "result": json.dumps(result)}
    return span(
        f"execute_tool {name}",
        parent=parent,
        scope=SCOPE,
        started_ns=START_NS + second * SECOND_NS,
        attributes={
            "ai.operationId": "ai.toolCall",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": call_id,
            **{f"gen_ai.tool.call.{key}": value for key, value in both.items()},
        },
    )


def asks(call_id: str, name: str) -> list[dict[str, Any]]:
    """A request, as the SDK writes it."""
    return [{"toolCallId": call_id, "toolName": name, "input": {"id": "A81"}}]


def test_a_run_of_several_calls() -> None:
    """The words before a tool are no reply, and the list of tools is not what was asked."""
    agent = root()
    spans = [
        agent,
        *model(agent, 1, "tool-calls", "Found it. ", asks("c1", "order")),
        tool(agent, 3, "order", "c1", {"total": 12.5}),
        *model(agent, 5, "stop", "Refunded"),
    ]
    (found,) = assemble(spans)
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", "th-7", "Refund A81", "Refunded")
    assert [(call.name, call.result) for call in found.tool_calls] == [("order", {"total": 12.5})]
    assert len(found.model_calls) == 2


def test_a_tool_that_waits_for_a_person() -> None:
    """What it waits with is no result."""
    agent = root()
    waits = {"payload": {"type": "approval"}, "continuation": {"__n8nApprovalGate": True}}
    spans = [agent, *model(agent, 1, "tool-calls", "", asks("c1", "wipe")), tool(agent, 3, "wipe", "c1", waits)]
    (found,) = assemble(spans)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("wipe", {"id": "A81"}, None)]
    spans[-1] = tool(agent, 3, "wipe", "c1", {"payload": 1})  # may be any tool's result
    (found,) = assemble(spans)
    assert found.tool_calls[0].result == {"payload": 1}


def test_the_switch_is_n8ns() -> None:
    """Where content is off."""
    agent = root()
    (found,) = assemble([agent, *model(agent, 1, "stop")])
    gap = found.gap("asked")
    assert found.asked is None
    assert gap is not None
    assert gap.setting is not None
    assert "N8N_AGENTS_TRACING_RECORD_INPUTS=true" in gap.setting
