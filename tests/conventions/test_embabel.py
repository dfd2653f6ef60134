"""Embabel's runs, around Spring AI's spans of the model's calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Interaction
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

BOOT = Scope("org.springframework.boot", "3.5.9")
FAILED = {
    "embabel.tool.status": "error",
    "embabel.tool.error.type": "IOException",
    "embabel.tool.error.message": "down",
}


def messages(role: str, said: str) -> str:
    """What Embabel's filter writes onto Spring AI's span."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": said}]}])


def run(agent: dict[str, Any], tool: dict[str, Any]) -> Interaction:
    """An action that asks the model, which calls a tool."""
    named = {"gen_ai.operation.name": "agent", "embabel.agent.name": "Orders", "embabel.run.id": "r1"}
    root = span("agent Orders", attributes={**named, "embabel.agent.status": "COMPLETED", **agent}, scope=BOOT)

    def below(parent: Span, name: str, attributes: dict[str, Any]) -> Span:
        return span(name, parent=parent, attributes=attributes)

    planning = below(root, "planning pay", {"gen_ai.operation.name": "planning", "embabel.plan.goal": "pay"})
    action = below(root, "action pay", {"gen_ai.operation.name": "execute_action", "embabel.action.name": "pay"})
    frame = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt", "embabel.interaction.id": "i1"}
    around = below(action, "chat gpt", {**frame, "embabel.agent.name": "Orders"})
    usage = {"gen_ai.usage.input_tokens": "4", "gen_ai.usage.output_tokens": "2"}
    model = below(
        around,
        "chat gpt",
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt",
            "gen_ai.input.messages": messages("user", "Given an order, pay it back."),
            "gen_ai.output.messages": messages("assistant", "Done."),
            **usage,
        },
    )
    again = below(around, "llm.invocation gpt", {"embabel.llm.model": "gpt", "embabel.interaction.id": "i1", **usage})
    called = below(
        around,
        "execute_tool find",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "embabel.tool.name": "find", **tool},
    )
    (found,) = assemble([root, planning, action, around, model, again, called])
    return found


def test_a_run() -> None:
    """The agent's span says what it was given and gave; usage counts once."""
    found = run(
        {"gen_ai.conversation.id": "c1", "input.value": "Order 81", "output.value": "Paid(81)"},
        {
            "gen_ai.tool.call.arguments": '{"id":81}',
            "gen_ai.tool.call.result": "paid",
            "embabel.tool.status": "success",
        },
    )
    assert (found.agent, found.session, found.asked, found.reply) == ("Orders", "c1", "Order 81", "Paid(81)")
    assert (found.model, found.usage.input_tokens, found.failed) == ("gpt", 4, False)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("find", {"id": 81}, "paid")]


def test_a_tool_that_fails() -> None:
    """The error stands in attributes of its own."""
    (call,) = run({}, FAILED).tool_calls
    assert (call.error, call.result) == ("IOException: down", None)


@pytest.mark.parametrize(("conversation", "session"), [("c1", "c1"), ("r1", None)])
def test_a_runs_own_id_is_no_session(conversation: str, session: str | None) -> None:
    """It stands in for a conversation's where there is none."""
    assert run({"gen_ai.conversation.id": conversation}, {}).session == session


@pytest.mark.parametrize(("status", "failed"), [("FAILED", True), ("STUCK", False), ("WAITING", False)])
def test_how_a_run_ended(status: str, *, failed: bool) -> None:
    """A run that waits for the user has not failed."""
    assert run({"embabel.agent.status": status}, {}).failed is failed


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.operation.name": "lifecycle", "embabel.lifecycle.state": "COMPLETED"},
        {"gen_ai.operation.name": "embeddings", "embabel.interaction.id": "i1", "embabel.llm.model": "e"},
        {"gen_ai.operation.name": "ranking", "embabel.ranking.choice": "Orders"},
    ],
)
def test_moments_are_ordinary(attributes: dict[str, str]) -> None:
    """They are no part of what was said or done."""
    assert facts_of(span("moment", attributes=attributes, scope=BOOT)) is None


def test_an_action_is_a_step() -> None:
    """Part of an agent's work."""
    facts = facts_of(span("action pay", attributes={"embabel.action.name": "pay"}, scope=BOOT))
    assert facts is not None
    assert facts.kind is Kind.STEP
