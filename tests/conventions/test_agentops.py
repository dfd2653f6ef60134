"""AgentOps' decorated functions."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

OWN = Scope("agentops")


def decorated(kind: str, name: str, parent: Span | None = None, **fields: Any) -> Span:
    """A span of a decorated function; ``taken`` and ``given`` are its input and output."""
    attributes = {"agentops.span.kind": kind, "operation.name": name}
    for ending, field in (("input", "taken"), ("output", "given")):
        if field in fields:
            attributes[f"agentops.{kind}.{ending}"] = fields.pop(field)
    return span(f"{name}.{kind}", parent=parent, attributes=attributes, scope=OWN, **fields)


def test_an_agent_with_a_tool() -> None:
    """What the functions took and gave; the model's request for the tool is no call of it."""
    agent = decorated("agent", "shop", taken='{"args": ["Where is o_9?"], "kwargs": {}}', given="Sent.")
    chat = {"gen_ai.request.model": "m", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Where is o_9?"}
    model = span("openai.chat.completion", parent=agent, attributes=chat, scope=Scope("openai"))
    request = span(
        "tool_call.find",
        parent=model,
        attributes={"agentops.span.kind": "AgentOpsSpanKindValues.TOOL", "tool.name": "find"},
        scope=Scope("agentops.instrumentation.providers.openai"),
    )
    tool = decorated("tool", "find", agent, taken='{"args": [], "kwargs": {"id": "o_9"}}', given='{"status": "sent"}')
    (found,) = assemble([agent, model, request, tool])
    assert (found.agent, found.asked, found.reply) == ("shop", "Where is o_9?", "Sent.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("find", {"id": "o_9"}, {"status": "sent"})
    ]


def test_a_tool_that_raises() -> None:
    """The exception on its span."""
    agent = decorated("agent", "shop")
    tool = decorated("tool", "find", agent, status="error", status_message="RuntimeError: down")
    (found,) = assemble([agent, tool])
    assert [(call.name, call.error) for call in found.tool_calls] == [("find", "RuntimeError: down")]


@pytest.mark.parametrize("kind", ["guardrail", "http", "text", "something"])
def test_other_kinds(kind: str) -> None:
    """They are ordinary spans."""
    assert facts_of(decorated(kind, "x")) is None


@pytest.mark.parametrize("given", ["42", '"quoted"'])
def test_a_reply_that_looks_like_json(given: str) -> None:
    """A text stands as it is."""
    (found,) = assemble([decorated("agent", "shop", given=given)])
    assert found.reply == given
