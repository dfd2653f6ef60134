"""smolagents beyond OpenInference's convention."""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

SMOL = Scope("openinference.instrumentation.smolagents")


def smol(kind: str, **attributes: Any) -> Span:
    """A span of smolagents."""
    return span("x", attributes={"openinference.span.kind": kind, **attributes}, scope=SMOL)


def test_smolagents() -> None:
    """The task was asked; a tool's arguments are those of its call, never its schema; ``final_answer`` is no tool."""
    agent = facts_of(smol("AGENT", **{"input.value": '{"task": "hi", "stream": false}', "output.value": "hello"}))
    assert agent is not None
    assert (agent.kind, agent.asked, agent.reply, agent.pseudo_tools) == (Kind.AGENT, "hi", "hello", ("final_answer",))
    schema = '{"city": {"type": "string", "description": "a city"}}'
    taken = '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"city": "Rome"}}'
    own = {"tool.name": "weather", "tool.parameters": schema, "output.value": "sunny"}
    shown, hidden, final = (
        facts_of(smol("TOOL", **{**own, "input.value": taken})),
        facts_of(smol("TOOL", **{**own, "input.value": "__REDACTED__"})),
        facts_of(smol("TOOL", **{**own, "tool.name": "final_answer"})),
    )
    assert shown is not None
    assert hidden is not None
    assert final is not None
    assert (shown.tool, shown.arguments, shown.result) == ("weather", {"city": "Rome"}, "sunny")
    assert hidden.arguments is None
    assert final.kind is Kind.STEP
