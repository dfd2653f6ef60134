"""Upsonic's own spans."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

SCOPE = Scope("upsonic", "0.77.3")


def up(name: str, parent: Span | None = None, **attributes: Any) -> Span:
    """A span of Upsonic's; two underscores stand for a dot."""
    written = {key.replace("__", "."): value for key, value in attributes.items()}
    return span(name, parent=parent, attributes={"langfuse.trace.name": "Refund o_9", **written}, scope=SCOPE)


def tool(given: object, parent: Span | None = None, **attributes: Any) -> Span:
    return up(
        "tool.execute",
        parent,
        upsonic__tool__name="get_order",
        upsonic__tool__call_id="c1",
        langfuse__observation__input='{"order_id": "o_9"}',
        langfuse__observation__output=json.dumps(str(given)),
        **attributes,
    )


def test_a_run() -> None:
    run = up(
        "agent.run",
        upsonic__agent__name="helper",
        upsonic__input="Refund o_9",
        upsonic__output='{"done": true}',
        langfuse__observation__input='"Refund o_9"',
        session__id="s-1",
        gen_ai__usage__input_tokens=42,
    )
    step = up("pipeline.step.model_execution", up("pipeline.execute", run))
    (found,) = assemble([run, step, tool({"func": {"order_id": "o_9", "paid": True}}, run)])
    assert (found.agent, found.asked, found.reply, found.session) == ("helper", "Refund o_9", '{"done": true}', "s-1")
    assert found.usage.input_tokens == 42
    assert [(call.name, call.call_id, call.arguments, call.result, call.error) for call in found.tool_calls] == [
        ("get_order", "c1", {"order_id": "o_9"}, {"order_id": "o_9", "paid": True}, None)
    ]


def test_tools_fail_by_status_or_by_what_they_gave() -> None:
    gave = facts_of(tool({"func": {"error": "no such order"}}))
    raised = facts_of(replace(tool(""), status="error", status_message="out of reach"))
    assert gave is not None
    assert raised is not None
    assert (gave.error, raised.error) == ("no such order", "out of reach")


def test_a_text_of_5000_characters_is_cut() -> None:
    found = facts_of(up("agent.run", upsonic__output="x" * 5000))
    assert found is not None
    assert [(mark.field, mark.kind) for mark in found.marks] == [("output", GapKind.TRUNCATED)]


def test_what_a_run_that_raised_was_asked() -> None:
    """Unless content is off: the trace is named after the agent then."""
    raised = {"status": "error", "status_message": "on fire"}
    (found,) = assemble([replace(up("agent.run", upsonic__agent__name="helper"), **raised)])
    assert (found.asked, found.failure is not None) == ("Refund o_9", True)
    (found,) = assemble(
        [replace(up("agent.run", upsonic__agent__name="helper", langfuse__trace__name="helper"), **raised)]
    )
    assert found.asked is None
