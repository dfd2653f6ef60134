"""Spring AI Alibaba's graphs: states written as Java writes objects, around Spring AI's own spans."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Scope
from otel_eval.testing.spans import span

BOOT = Scope("org.springframework.boot", "3.5.7")
ASKED = 'Where is it\'s "81", [now]?'
USER = f"UserMessage{{content='{ASKED}', metadata={{messageType=USER}}, messageType=USER}}"
CALLS = (
    "AssistantMessage [messageType=ASSISTANT, toolCalls=[ToolCall[id=c1, type=function, name=find, arguments="
    '{"ids": [81]}], ToolCall[id=c2, type=function, name=pay, arguments={}]], textContent=null, metadata={annotations='
    "[{}], id=r1}]"
)
RESULTS = (
    'ToolResponseMessage{responses=[ToolResponse[id=c1, name=find, responseData=["paid"]], ToolResponse[id=c2, name=pay, '
    'responseData="done"]], messageType=TOOL, metadata={messageType=TOOL}}'
)
SAID = "AssistantMessage [messageType=ASSISTANT, toolCalls=[], textContent=Here., metadata={role=ASSISTANT}]"


def state(*messages: str, more: str = "") -> str:
    """A state of a ReactAgent."""
    return f"input={ASKED}; messages=[{', '.join(messages)}{more or ']'}; "


def run(before: str, after: str, **fields: Any) -> Interaction:
    """An agent's graph with the nodes that ask the model."""
    content = {"gen_ai.prompt": before, "gen_ai.completion": after}
    traced = {"langfuse.observation.input": before, "langfuse.observation.output": after}
    name = {"spring.ai.alibaba.graph.name": "graph-execution"}
    graph = span("graph", attributes={**name, **content, **traced}, scope=BOOT, **fields)
    spans = [graph]
    for at in range(2):
        node = span(
            "node",
            attributes={"spring.ai.alibaba.graph.node.name": "_AGENT_MODEL_", **content, **traced},
            parent=graph,
            started_ns=graph.started_ns + at,
        )
        client = span("client", attributes={"spring.ai.kind": "chat_client"}, parent=node)
        usage = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt", "gen_ai.usage.input_tokens": 4}
        spans += [node, client, span("chat gpt", attributes=usage, parent=client)]
    (found,) = assemble(spans)
    return found


def test_an_agents_run() -> None:
    """The messages tell everything; the nodes' clients are no agents of their own."""
    found = run(state(USER), state(USER, CALLS, RESULTS, SAID))
    assert (found.asked, found.reply, found.model, found.usage.input_tokens) == (ASKED, "Here.", "gpt", 8)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("find", {"ids": [81]}, ["paid"]),
        ("pay", {}, "done"),
    ]


def test_a_later_turn() -> None:
    """What was said before is history, and its tools are the earlier turn's."""
    earlier = [USER.replace(ASKED, "Hello"), CALLS, RESULTS, SAID]
    found = run(state(*earlier, USER), state(*earlier, USER, SAID))
    assert (found.asked, found.reply, found.tool_calls) == (ASKED, "Here.", ())
    assert found.history[0].text == "Hello"


def test_a_state_that_is_cut() -> None:
    """The call that was written is there, its result is not, and the reply is a gap."""
    found = run(
        state(USER), state(USER, CALLS, more=", ToolResponseMessage{responses=[ToolResponse[id=c1... (truncated)")
    )
    assert (found.asked, found.reply) == (ASKED, None)
    assert [(call.name, call.result) for call in found.tool_calls] == [("find", None), ("pay", None)]
    gap = found.gap("reply")
    assert gap is not None
    assert gap.kind is GapKind.TRUNCATED


def test_a_state_that_was_cut_before_the_run() -> None:
    """Tools of earlier turns are not taken for this one's; what the agent was called with stands first."""
    cut = state(USER.replace(ASKED, "Hello"), CALLS, more=", ToolRes... (truncated)")
    found = run(cut, cut)
    assert (found.asked, found.reply, found.tool_calls) == (ASKED, None, ())


@pytest.mark.parametrize("written", ["empty state", "", "logs=[a, b]; "])
def test_graphs_without_messages(written: str) -> None:
    """A graph that is no agent is a frame without content."""
    facts = facts_of(
        span("graph", attributes={"spring.ai.alibaba.graph.name": "g", "gen_ai.prompt": written}, scope=BOOT)
    )
    assert facts is not None
    assert (facts.kind, facts.input, facts.output, facts.asked) == (Kind.WORKFLOW, (), (), None)
