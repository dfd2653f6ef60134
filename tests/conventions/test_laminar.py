"""Laminar's spans."""

from __future__ import annotations

from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Span
from otel_eval.testing.spans import span


def typed(kind: str, name: str, taken: str, given: str, **fields: Any) -> Span:
    """A span of that type with its input and output in JSON."""
    attributes = {
        "lmnr.span.type": kind,
        "lmnr.span.input": taken,
        "lmnr.span.output": given,
        "lmnr.association.properties.session_id": "s1",
    }
    return span(name, attributes=attributes, **fields)


def test_a_turn_of_observed_functions() -> None:
    """The outermost function around a model is the invocation; its arguments are known by name."""
    agent = typed("DEFAULT", "shop", '{"question":"Where is it?"}', '"Here."')
    model = typed(
        "LLM",
        "openai.chat",
        '[{"role":"user","content":"Where is it?"}]',
        '{"role":"assistant","content":"Here."}',
        parent=agent,
    )
    tool = typed("TOOL", "find", '{"id":81}', '{"status":"paid"}', parent=agent)
    (found,) = assemble([agent, model, tool])
    assert (found.agent, found.session, found.asked, found.reply) == ("shop", "s1", "Where is it?", "Here.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [("find", {"id": 81}, {"status": "paid"})]


def test_unknown_types_are_no_agents_work() -> None:
    """A type that nobody knows is left out."""
    assert facts_of(typed("EVENT", "x", '"in"', '"out"')) is None
