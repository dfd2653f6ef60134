"""Agents that two instrumentations wrote, each in its own place."""

from __future__ import annotations

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import agent_span, message, model_span, tool_span
from tests.assemble.kit import later, workflow

FLAT = Scope(name="flat")
"""The instrumentation that puts all below the workflow."""


def _spans(asked: str, reply: str, at: float, root: Span, tool: Span) -> list[Span]:
    """The expert that the tool ran: once below the tool, once, with its model's call and its tool, below the workflow."""
    start = later(root, at)
    inner = agent_span(asked=None, reply=None, agent="expert", parent=tool, started_ns=start, seconds=1)
    looked = tool_span("lookup", {"topic": asked}, "found", parent=inner, started_ns=start, seconds=0.1)
    flat = agent_span(asked=None, reply=None, agent="expert", parent=root, started_ns=start + 1, seconds=1, scope=FLAT)
    call = model_span(parent=flat, messages=[message("user", asked)], output=[message("assistant", reply)], seconds=0.5)
    again = tool_span("lookup", {"topic": asked}, "found", parent=root, started_ns=start + 1, seconds=0.1, scope=FLAT)
    return [inner, looked, flat, call, again]


def test_an_agent_in_a_tool_is_one() -> None:
    """The one below the tool knows its place: it is no agent that took over; and each of two at once is its own."""
    root = workflow()
    boss = agent_span(asked="What now?", reply="Wait.", agent="boss", parent=root, seconds=20)
    spans = [root, boss]
    for index, (asked, reply) in enumerate((("How long?", "Five days."), ("How much?", "Ten euro."))):
        at = 1 + 0.2 * index
        tool = tool_span("ask", {"question": asked}, reply, parent=boss, started_ns=later(root, at), seconds=1.5)
        spans += [tool, *_spans(asked, reply, at + 0.01, root, tool)]
    found = assemble(spans)
    assert [(each.agent, each.reply) for each in found] == [
        ("boss", "Wait."),
        ("expert", "Five days."),
        ("expert", "Ten euro."),
    ]
    assert [[call.name for call in each.tool_calls] for each in found] == [["ask", "ask"], ["lookup"], ["lookup"]]


def test_agents_in_a_row_that_one_instrumentation_nests() -> None:
    """One hangs each that takes over below the one before, around nothing, the other puts their work beside one another."""
    root = workflow()
    first = agent_span(asked=None, reply=None, agent="desk", parent=root, seconds=1)
    second = agent_span(asked=None, reply=None, agent="billing", parent=first, started_ns=later(root, 1.1), seconds=1)
    flat = [
        agent_span(
            asked=None, reply=None, agent=name, parent=root, started_ns=later(root, at + 0.001), seconds=1, scope=FLAT
        )
        for name, at in (("desk", 0), ("billing", 1.1))
    ]
    asked = message("user", "Refund?")
    over = message("assistant", {"type": "tool_call", "id": "c1", "name": "transfer_to_billing", "arguments": {}})
    done = {"type": "tool_call_response", "id": "c1", "response": "ok"}
    calls = [
        model_span(parent=flat[0], messages=[asked], output=[over], seconds=0.5),
        model_span(
            parent=flat[1],
            messages=[asked, over, message("tool", done)],
            output=[message("assistant", "Done.")],
            seconds=0.5,
        ),
    ]
    found = assemble([root, first, second, *flat, *calls])
    assert [(each.agent, len(each.model_calls)) for each in found] == [("desk", 1), ("billing", 1)]
