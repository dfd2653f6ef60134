"""Agents that give back a stream, so that their span is over before they do anything."""

from __future__ import annotations

from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, agent_span, message, model_span, span, tool_span

SERVICE = "langchain4j.aiservices.Desk.chat"
QUARKUS = Scope("io.quarkus.opentelemetry")


def at(seconds: float) -> int:
    """A time so many seconds after the request's start."""
    return START_NS + round(seconds * SECOND_NS)


def request() -> Span:
    """What serves a user; nothing of an agent's."""
    return span("POST /ask", started_ns=START_NS, seconds=60)


def service(parent: Span, start: float, **fields: Any) -> Span:
    """A service's method, which gives back its stream at once."""
    return span(SERVICE, scope=QUARKUS, parent=parent, started_ns=at(start), seconds=0.01, **fields)


def call(parent: Span, start: float, asked: str, said: str) -> Span:
    """A model's call while the stream is read."""
    return model_span(
        parent=parent,
        messages=[message("user", asked)],
        output=[message("assistant", said)],
        started_ns=at(start),
        seconds=0.5,
    )


def test_what_a_stream_brings_is_its_agents() -> None:
    """Calls of models and tools beside the agent's span, after its end, are the agent's."""
    top = request()
    agent = service(top, 0)
    tool = tool_span("getOrder", {"id": 9}, {"status": "lost"}, parent=top, started_ns=at(2), seconds=0.1)
    (found,) = assemble([top, agent, call(top, 1, "Where is it?", "Lost."), tool])
    assert (found.agent, found.span_id, found.asked, found.reply) == ("Desk", agent.span_id, "Where is it?", "Lost.")
    assert [made.name for made in found.tool_calls] == ["getOrder"]


def test_one_stream_after_another() -> None:
    """Each agent has what came after it, before the next."""
    top = request()
    spans = [top, service(top, 0), call(top, 1, "One?", "1."), service(top, 5), call(top, 6, "Two?", "2.")]
    assert [(found.agent, found.asked, found.reply) for found in assemble(spans)] == [
        ("Desk", "One?", "1."),
        ("Desk", "Two?", "2."),
    ]


def test_streams_at_once_stay_untold() -> None:
    """Of two agents that were over before the first call, neither is known to have made it."""
    top = request()
    found = assemble([top, service(top, 0), service(top, 0.1), call(top, 1, "One?", "1."), call(top, 2, "Two?", "2.")])
    assert [each.reply for each in found if each.agent == "Desk"] == [None, None]


def test_beside_another_agent_nothing_is_taken() -> None:
    """Where an agent that tells of its work is beside it, a call may be of either."""
    top = request()
    other = agent_span(agent="clerk", parent=top, started_ns=at(0.5), seconds=0.1)
    found = assemble([top, service(top, 0), other, call(top, 1, "One?", "1.")])
    assert [each.reply for each in found if each.agent == "Desk"] == [None]
