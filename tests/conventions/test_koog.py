"""Koog's spans: what was asked and answered stands on the nodes at both ends, hidden where spans are not verbose."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Span
from otel_eval.testing.spans import span

HIDDEN = "HIDDEN:non-empty"
PROMPT = [{"role": "System", "parts": [{"type": "text", "content": "Be kind."}]}]
EXAMPLES = [
    *PROMPT,
    {"role": "User", "parts": [{"type": "text", "content": "Where is 1?"}]},
    {"role": "Assistant", "parts": [{"type": "text", "content": "Gone."}]},
]
CALLED = [{"role": "tool", "parts": []}, {"role": "User", "parts": [{"type": "text", "content": "Where is 81?"}]}]


def koog(name: str, attributes: dict[str, Any], **fields: Any) -> Span:
    """One of Koog's spans: messages are written as JSON."""
    written = {key: value if isinstance(value, str | int) else json.dumps(value) for key, value in attributes.items()}
    return span(name, attributes={"koog.event.id": "e1", **written}, **fields)


def turn(prompt: Any, asked: str, told: Any, said: Any, reply: str, tool: dict[str, str]) -> Interaction:
    """A run of an agent that calls a tool."""
    created = koog("create_agent shop", {"gen_ai.operation.name": "create_agent", "gen_ai.agent.id": "shop"})
    agent = koog(
        "invoke_agent shop",
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": "shop",
            "gen_ai.conversation.id": "s1",
            "gen_ai.input.messages": prompt,
            "gen_ai.output.messages": prompt,
            "gen_ai.usage.input_tokens": "0",
        },
        parent=created,
    )
    strategy = koog("strategy single_run", {"koog.strategy.name": "single_run"}, parent=agent)
    first = koog("node __start__", {"koog.node.id": "__start__", "koog.node.input": asked}, parent=strategy)
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt", "gen_ai.usage.input_tokens": 4}
    model = koog("chat gpt", {"gen_ai.input.messages": told, "gen_ai.output.messages": said, **chat}, parent=strategy)
    called = koog(
        "execute_tool find",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", **tool},
        parent=strategy,
    )
    last = koog("node __finish__", {"koog.node.id": "__finish__", "koog.node.output": reply}, parent=strategy)
    (found,) = assemble([created, agent, strategy, first, model, called, last])
    return found


def test_a_run() -> None:
    """The prompt that the agent was built with, with its examples, is neither what was asked nor the reply."""
    answer = [{"role": "Assistant", "parts": [{"type": "text", "content": "Here."}]}]
    tool = {"gen_ai.tool.call.arguments": '{"id":81}', "gen_ai.tool.call.result": '"paid"'}
    found = turn(EXAMPLES, '"Where is 81?"', EXAMPLES + CALLED, answer, '"Here."', tool)
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", "s1", "Where is 81?", "Here.")
    assert (found.system, found.usage.input_tokens) == ("Be kind.", 4)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("find", {"id": 81}, "paid")]
    assert all(message.parts for message in found.history)


def test_a_run_that_is_not_verbose() -> None:
    """The placeholder is no content: every field is a gap that names what shows it."""
    tool = {"gen_ai.tool.call.arguments": HIDDEN, "gen_ai.tool.call.result": HIDDEN}
    found = turn(HIDDEN, HIDDEN, HIDDEN, HIDDEN, HIDDEN, tool)
    (call,) = found.tool_calls
    assert (found.asked, found.reply, call.arguments, call.result) == (None, None, None, None)
    for gap in (found.gap("asked"), found.gap("reply"), call.gap("arguments"), call.gap("result")):
        assert gap is not None
        assert gap.kind is GapKind.REDACTED
        assert "setVerbose(true)" in (gap.setting or "")


@pytest.mark.parametrize(
    ("node", "asked", "reply"),
    [
        ({"koog.node.id": "__start__", "koog.node.input": '"Hi"'}, "Hi", None),
        ({"koog.node.id": "__finish__", "koog.node.output": '{"paid":true}'}, None, '{"paid":true}'),
        ({"koog.node.id": "nodeCallLLM", "koog.node.input": '"Hi"', "koog.node.output": '"Yes"'}, None, None),
        ({"koog.node.id": "__start__"}, None, None),
        ({"koog.strategy.name": "single_run"}, None, None),
    ],
)
def test_nodes(node: dict[str, str], asked: str | None, reply: str | None) -> None:
    """The first tells what was asked, the last what came out; objects stay as they were written."""
    facts = facts_of(koog("node", node))
    assert facts is not None
    assert (facts.asked, facts.reply) == (asked, reply)
