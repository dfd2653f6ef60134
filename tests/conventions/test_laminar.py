"""Laminar's spans."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import START_NS, message, model_span, span


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


JAVASCRIPT = Scope("lmnr.tracer")


def test_javascripts_functions_have_no_type() -> None:
    """They are around calls of models that other instrumentations write, each under a question of its own."""
    shop = span(
        "shop", attributes={"lmnr.span.input": '["Refund it"]', "lmnr.span.output": '"Done."'}, scope=JAVASCRIPT
    )
    first, last = (
        model_span(
            parent=shop,
            messages=[message("user", asked)],
            output=[message("assistant", said)],
            attributes={"lmnr.span.path": ["shop", "chat m"]},
            scope=Scope("@traceloop/instrumentation-openai"),
            started_ns=START_NS + place,
        )
        for place, (asked, said) in enumerate([("Refund it", "Found it."), ("And now?", "Done.")])
    )
    (found,) = assemble([shop, first, last])
    assert (found.agent, found.asked, found.reply, len(found.model_calls)) == ("shop", "Refund it", "Done.", 2)


@pytest.mark.parametrize(("given", "failed"), [({}, True), ({"lmnr.span.output": '"Done."'}, False)])
def test_javascripts_exceptions_are_failures(given: dict[str, str], failed: bool) -> None:
    """The status is unset; a function that gave something back has recorded what it caught."""
    raised = SpanEvent("exception", attributes={"exception.type": "TypeError", "exception.message": "declined"})
    shop = span("shop", attributes={"lmnr.span.input": '["Pay"]', **given}, events=(raised,), scope=JAVASCRIPT)
    tool = span("pay", attributes={"lmnr.span.type": "TOOL", **given}, events=(raised,), parent=shop, scope=JAVASCRIPT)
    (found,) = assemble([shop, tool])
    assert found.failed is failed
    assert [call.error for call in found.tool_calls] == ["TypeError: declined" if failed else None]


def test_other_tracers_spans_under_laminar() -> None:
    """Laminar's processor marks them with a path alone; what the standard's attributes say of a span goes before."""
    assert facts_of(span("GET /", attributes={"lmnr.span.path": ["shop", "GET /"]})) is None
    facts = facts_of(model_span(messages=[message("user", "Hi")], scope=JAVASCRIPT))
    assert facts is not None
    assert facts.kind is Kind.MODEL
