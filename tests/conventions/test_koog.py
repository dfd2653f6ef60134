"""Koog's spans: what was asked and answered stands on the nodes at both ends, hidden where spans are not verbose."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Span, SpanEvent
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


HASH = "BysfNRspKMP5EqRKkGB7kNGACcDZvwYXEiz23GXOPyk="
UUID = "c047fda5-98c3-43bf-8f10-63016af1b967"


def said(name: str, **attributes: str) -> SpanEvent:
    """One of the events of a model's call, until 0.5."""
    return SpanEvent(f"gen_ai.{name}", 1, attributes)


def calls(tool: str) -> str:
    """The model asks for a tool."""
    return json.dumps([{"id": "c1", "type": "function", "function": {"name": tool, "arguments": '{"id": 81}'}}])


def old_turn(*, verbose: bool) -> Interaction:
    """A run as 0.5 writes it."""

    def shown(value: str) -> str:
        return value if verbose else HIDDEN

    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt"}
    run = span(f"run.{UUID}", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.id": "shop"})
    told = (said("system.message", content=shown("Be kind.")), said("user.message", content=shown("Where is 81?")))
    called = said("choice", role="tool", tool_calls=calls(shown("find")), finish_reason="tool_calls")
    given = said("tool.message", content=shown('"paid"'), id="c1")
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "gen_ai.tool.call.id": "c1"}
    values = {"input.value": shown('{"id":81}'), "output.value": shown('"paid"')}
    last = {"koog.node.name": "__finish__", "koog.node.output": shown('"Here."')}
    (found,) = assemble(
        [
            run,
            span(f"llm.{HASH}", parent=run, attributes=chat, events=(*told, called)),
            span(f"tool.find.args.{HASH}", parent=run, attributes={**tool, **values}),
            span(
                f"llm.{HASH}",
                parent=run,
                attributes=chat,
                events=(*told, called, given, said("assistant.message", content=shown("Here."))),
                started_ns=run.started_ns + 5,
            ),
            span(f"node.__finish__.{UUID}", parent=run, attributes=last),
        ]
    )
    return found


def test_a_run_of_0_5() -> None:
    """Of the events that are answers those at the end are this call's, those before them its history."""
    found = old_turn(verbose=True)
    assert (found.agent, found.asked, found.reply, found.system) == ("shop", "Where is 81?", "Here.", "Be kind.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("find", {"id": 81}, "paid")]


def test_a_run_of_0_5_that_is_not_verbose() -> None:
    """Even the tools' names are hidden in messages: the tools' spans tell them, and nothing is empty that is hidden."""
    found = old_turn(verbose=False)
    assert (found.asked, found.reply) == (None, None)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("find", None, None)]
    gap = found.gap("reply")
    assert gap is not None
    assert gap.kind is GapKind.REDACTED


def test_a_call_that_failed_says_nothing() -> None:
    """Its events end with what it was asked."""
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt"}
    asked = (said("choice", role="tool", tool_calls=calls("find")), said("user.message", content="Hi"))
    facts = facts_of(span(f"llm.{HASH}", attributes=attributes, events=asked))
    assert facts is not None
    assert facts.output == ()
