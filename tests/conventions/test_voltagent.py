"""VoltAgent: an entity's run, and what it did, with inputs and outputs as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Interaction
from otel_eval.signals import Span
from otel_eval.testing.spans import span


def of_agent(kind: str | None = None, **fields: Any) -> Span:
    """A span of the agent ``shop``."""
    told: dict[str, Any] = fields.pop("attributes", {})
    entity = {"entity.type": "agent", "entity.id": "shop", "entity.name": "shop"}
    return span("s", attributes={**entity, **({} if kind is None else {"span.type": kind}), **told}, **fields)


def run(agent: dict[str, Any], tool: dict[str, Any], **fields: Any) -> Interaction:
    """A run with a call of the model's around all rounds, and one of a tool's beside it."""
    outer = of_agent(attributes={"usage.prompt_tokens": 60, "usage.completion_tokens": 9, **agent})
    messages = json.dumps([{"role": "user", "content": [{"type": "text", "text": "Where is it?"}]}])
    model = {"llm.messages": messages, "llm.model": "m", "llm.usage.prompt_tokens": 20}
    inner = {"tool.name": "find", "tool.call.id": "c1", "input": '{"id":81}', **tool}
    (found,) = assemble(
        [
            outer,
            of_agent("llm", attributes=model, parent=outer),
            of_agent("tool", attributes=inner, parent=outer, **fields),
            of_agent("memory", attributes={"input": '{"query":"Where is it?"}'}, parent=outer),
        ]
    )
    return found


@pytest.mark.parametrize(
    ("taken", "given", "gave"),
    [
        ("Where is it?", "In Rome.", "in Rome"),
        ('[{"id":"1","role":"user","parts":[{"type":"text","text":"Where is it?"}]}]', "In Rome.", '"in Rome"'),
        ("Where is it?", '{"city":"Rome"}', '{"city":"Rome"}'),
    ],
    ids=["texts", "messages of a user interface", "JSON"],
)
def test_a_run(taken: str, given: str, gave: str) -> None:
    """The agent, the question, the answer as it stands, the tool, the conversation and the totals."""
    found = run({"input": taken, "output": given, "conversation.id": "c7"}, {"output": gave})
    assert (found.agent, found.asked, found.reply, found.session) == ("shop", "Where is it?", given, "c7")
    (call,) = found.tool_calls
    assert (call.name, call.arguments, call.call_id, call.error) == ("find", {"id": 81}, "c1", None)
    assert call.result == ({"city": "Rome"} if gave[0] == "{" else "in Rome")
    assert found.usage.input_tokens == 60


def test_a_tool_that_raised() -> None:
    """Its span says so, and the run goes on."""
    found = run(
        {"input": "Where is it?", "output": "I do not know."},
        {"error.type": "VoltAgentError", "error.message": "no route"},
        status="error",
    )
    assert found.failure is None
    assert found.tool_calls[0].error == "VoltAgentError: no route"


def test_other_kinds() -> None:
    """A scorer judges, a workflow is a frame, and a span of no entity is none of VoltAgent's."""
    facts = facts_of(span("w", attributes={"entity.type": "workflow", "entity.name": "nightly", "input": "go"}))
    assert facts is not None
    assert (facts.kind, facts.weak_agent) == (Kind.WORKFLOW, "nightly")
    scorer = facts_of(of_agent("scorer"))
    assert scorer is not None
    assert scorer.kind is Kind.EVALUATOR
    assert facts_of(span("s", attributes={"span.type": "other"})) is None
