"""Netra's SDK: functions' spans of a type, and models' calls with a message for each call of a tool."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

OPENAI = Scope("netra.instrumentation.openai", "1.2.2")


def traced(name: str, kind: str, parent: Span | None = None, at: int = 0, **attributes: Any) -> Span:
    """The span of a decorated function."""
    stamped = {"netra.session_id": "s-1", "netra.agent.name": "bob", "netra.span.type": kind}
    return span(name, parent=parent, started_ns=START_NS + at * SECOND_NS, attributes={**stamped, **attributes})


def answered(parent: Span, at: int, *said: dict[str, str], asked: tuple[dict[str, str], ...] = ()) -> Span:
    """A model's call."""
    asked = ({"role": "user", "content": "Refund o_9 and o_8."}, *asked)
    attributes = {"llm.request.type": "chat", "gen_ai.request.model": "gpt-4o"}
    for prefix, items in (("gen_ai.prompt", asked), ("gen_ai.completion", said)):
        for place, item in enumerate(items):
            attributes |= {f"{prefix}.{place}.{key}": value for key, value in item.items()}
    attributes[f"gen_ai.completion.{len(said)}.finish_reason"] = "stop"
    return span("openai.chat", parent=parent, scope=OPENAI, started_ns=START_NS + at * SECOND_NS, attributes=attributes)


def called(order: str, call_id: str) -> dict[str, str]:
    """An answer that calls a tool."""
    arguments = json.dumps({"order": order, "cents": 4999})
    content = json.dumps({"name": "refund", "arguments": arguments})
    return {"role": "assistant", "content": content, "tool_call_id": call_id}


def test_an_agents_run() -> None:
    """Numbers are written as texts on a tool's span, and as they are in the model's call: that one counts."""
    agent = traced("bob", "AGENT", input='{"text": "Refund o_9 and o_8."}', output="Both are refunded.")
    calls = (called("o_9", "c1"), called("o_8", "c2"))
    done = [
        {"role": "tool", "content": f"refunded {order}", "tool_call_id": c}
        for order, c in (("o_9", "c1"), ("o_8", "c2"))
    ]
    spans = [
        agent,
        answered(agent, 1, *calls),
        traced("refund", "TOOL", agent, 2, input='{"order": "o_9", "cents": "4999"}', output="refunded o_9"),
        traced("refund", "TOOL", agent, 3, input='{"order": "o_8", "cents": "4999"}', output="refunded o_8"),
        answered(agent, 4, {"role": "assistant", "content": "Both are refunded."}, asked=(*calls, *done)),
    ]
    (found,) = assemble(spans)
    assert (found.agent, found.session, found.asked) == ("bob", "s-1", "Refund o_9 and o_8.")
    assert found.reply == "Both are refunded."
    assert [(call.arguments, call.result, call.error) for call in found.tool_calls] == [
        ({"order": "o_9", "cents": 4999}, "refunded o_9", None),
        ({"order": "o_8", "cents": 4999}, "refunded o_8", None),
    ]


def test_a_function_that_raised() -> None:
    """The status stays unset, and the output is empty as it was when the function began."""
    agent = facts_of(traced("bob", "AGENT", output="", **{"netra.entity.error": "boom"}))
    tool = facts_of(traced("find", "TOOL", output="", input='{"sku": "mug"}', **{"netra.entity.error": "boom"}))
    assert agent is not None
    assert tool is not None
    assert (str(agent.failure), agent.reply) == ("boom", None)
    assert (tool.error, tool.arguments) == ("boom", {"sku": "mug"})


def test_kinds() -> None:
    """By the type, by the entity where none is set; others are ordinary spans."""
    told = [
        {"netra.span.type": "AGENT"},
        {"netra.span.type": "TOOL"},
        {"netra.span.type": "SPAN"},
        {"netra.span.type": "USAGE"},
    ]
    told += [{"netra.entity.type": "workflow", **more} for more in ({}, {"netra.span.type": "SPAN"})]
    told += [{"netra.session_id": "s-1"}]
    found = [facts_of(span("s", attributes=attributes)) for attributes in told]
    assert [facts and facts.kind for facts in found] == [
        Kind.AGENT,
        Kind.TOOL,
        None,
        None,
        Kind.WORKFLOW,
        Kind.WORKFLOW,
        None,
    ]
