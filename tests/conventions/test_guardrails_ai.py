"""Guardrails AI's spans of a guard around a model's call."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Usage
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import agent_span, span

SCOPE = Scope("guardrails-ai")
GUARDRAIL = {"openinference.span.kind": "GUARDRAIL", "guard.name": "shop-guard", "user.id": "unknown"}


def guarded(parent: Span | None = None, **fields: Any) -> list[Span]:
    """A guard whose validator changed what the model said."""
    told = {"type": "guardrails/guard", "output.value": "No card.", "input.value": "\n  {'role': 'user'}\n"}
    guard = span("guard", parent=parent, scope=SCOPE, attributes=GUARDRAIL | told, **fields)
    step = span("step", parent=guard, attributes=GUARDRAIL | {"type": "guardrails/guard/step"})
    said = {
        "type": "guardrails/guard/step/call",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Which card?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Card 4111.",
        "llm.token_count.prompt": 10,
        "llm.token_count.completion": 3,
        "llm.token_count.total": 13,
    }
    call = span("call", parent=step, attributes=GUARDRAIL | said)
    check = span("x.validate", parent=step, attributes=GUARDRAIL | {"type": "guardrails/guard/step/validator"})
    return [guard, step, call, check]


def test_a_guards_answer_is_what_its_validators_left() -> None:
    """The model's call is one, though its kind says that it is a guardrail; nobody unknown is a user."""
    (found,) = assemble(guarded())
    assert (found.agent, found.asked, found.reply, found.user_id) == ("shop-guard", "Which card?", "No card.", None)
    assert (len(found.model_calls), found.usage) == (1, Usage(input_tokens=10, output_tokens=3))


def test_a_guard_in_an_agent_is_part_of_its_work() -> None:
    """The agent keeps its name and its reply."""
    agent = agent_span(agent="shop", asked=None, reply="I may not say.")
    (found,) = assemble([agent, *guarded(agent)])
    assert (found.agent, found.asked, found.reply) == ("shop", "Which card?", "I may not say.")


@pytest.mark.parametrize("at", [1, 3], ids=["step", "validator"])
def test_steps_and_validators_are_no_agents_work(at: int) -> None:
    """They repeat the call, or judge it."""
    assert facts_of(guarded()[at]) is None
