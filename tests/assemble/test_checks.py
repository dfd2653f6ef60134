"""Guardrails: what they ask their models is no question of the user's, and what those say no reply."""

from __future__ import annotations

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Span
from otel_eval.testing.spans import agent_span, message, model_span, span, tool_span

KINDS = [{"openinference.span.kind": "GUARDRAIL"}, {"gen_ai.operation.name": "apply_guardrail"}]


def call(parent: Span, asked: str, said: str, at: float = 0) -> Span:
    """A model's call; ``at`` seconds after its parent began."""
    started_ns = parent.started_ns + round(at * 1e9)
    answer = [message("assistant", said)]
    asks = [message("user", asked)]
    return model_span(parent=parent, messages=asks, output=answer, started_ns=started_ns, seconds=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_guardrails_ask_and_say_is_not_the_agents(kind: dict[str, str]) -> None:
    """One before the agent's call and one after it, where the agent's own span has no messages."""
    agent = agent_span(asked=None, reply=None)
    before = span("guard", parent=agent, attributes=kind, seconds=0.1)
    after = span("guard", parent=agent, attributes=kind, started_ns=agent.started_ns + 800_000_000, seconds=0.1)
    looked = tool_span("lookUp", parent=before)
    checks = [call(before, "Is this safe: hi", "yes"), call(after, "Is this safe: hello", "no")]
    (found,) = assemble([agent, before, looked, after, *checks, call(agent, "hi", "hello", at=0.4)], [])
    assert (found.asked, found.reply, found.tool_calls) == ("hi", "hello", ())
    assert (len(found.model_calls), found.usage.input_tokens) == (3, 300)


@pytest.mark.parametrize("kind", KINDS)
def test_a_guard_around_the_only_call_is_a_wrapper(kind: dict[str, str]) -> None:
    """Then the model that it guards is the agent's."""
    agent = agent_span(asked=None, reply=None)
    guard = span("guard", parent=agent, attributes=kind)
    (found,) = assemble([agent, guard, call(guard, "hi", "hello")], [])
    assert (found.asked, found.reply) == ("hi", "hello")


def test_a_guardrail_beside_a_bare_loop_is_no_interaction() -> None:
    """Of a program without a span for its agent."""
    root = span("POST /chat")
    guard = span("guard", parent=root, attributes=KINDS[0], seconds=0.2)
    (found,) = assemble([root, guard, call(guard, "Is this safe: hi", "yes"), call(root, "hi", "hello", at=0.4)], [])
    assert (found.asked, found.reply) == ("hi", "hello")
    (alone,) = assemble([guard, call(guard, "hi", "hello")], [])
    assert alone.reply == "hello"
