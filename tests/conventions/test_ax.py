"""Ax: what ran, without what was said."""

from __future__ import annotations

from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, START_NS, span

SCOPE = Scope("shop", "")


def ax(name: str, parent: Span | None, second: int, events: tuple[SpanEvent, ...] = (), **attributes: Any) -> Span:
    """A span of a second. ``tool__name`` is the attribute ``tool.name``."""
    return span(
        name,
        parent=parent,
        scope=SCOPE,
        started_ns=START_NS + second * SECOND_NS,
        ended_ns=START_NS + (second + 1) * SECOND_NS,
        events=events,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
    )


def event(name: str, **attributes: Any) -> SpanEvent:
    """An event of a span."""
    own = {key.replace("__", "."): value for key, value in attributes.items()}
    return SpanEvent(name=name, time_ns=START_NS, attributes=own)


def call(parent: Span, second: int, reason: str, functions: int) -> Span:
    """A call of the model, whose events count."""
    said = {"finish_reason": reason, "index": 0, "has_content": functions == 0, "tool_count": functions}
    return ax(
        "AI Chat Request", parent, second,
        (event("gen_ai.user.message", part_count=1), event("gen_ai.usage", gen_ai__usage__input_tokens=21),
         event("gen_ai.choice", **said)),
        gen_ai__operation__name="chat", gen_ai__request__model="gpt-x", gen_ai__request__llm_is_streaming=False,
    )  # fmt: skip


def test_a_program() -> None:
    """It is one Interaction; what was said is not captured, which is no empty reply."""
    program = span(
        "AxGen", scope=SCOPE, seconds=9, attributes={"provided_functions": "order", "signature_name": "Be kind"}
    )
    tool = ax("Tool: order", program, 3, tool__name="order", tool__mode="native", function__id="c1")
    (found,) = assemble([program, call(program, 1, "function_call", 1), tool, call(program, 5, "stop", 0)])
    assert (found.asked, found.reply, found.complete) == (None, None, True)
    assert [(each.name, each.call_id, each.error) for each in found.tool_calls] == [("order", "c1", None)]
    assert (found.model, found.usage.input_tokens, len(found.model_calls)) == ("gpt-x", 42, 2)
    assert {gap.setting for gap in found.all_gaps()} == {None}  # none would help


def test_a_tool_that_raises() -> None:
    """Its span has the exception, and a status that is not set."""
    program = span("AxGen", scope=SCOPE, seconds=9, attributes={"provided_functions": "pay"}, status="error")
    raised = event("exception", exception__type="TypeError", exception__message="card declined")
    tool = ax("Tool: pay", program, 3, (raised,), tool__name="pay", tool__mode="native", function__id="c1")
    (found,) = assemble([program, call(program, 1, "function_call", 1), tool])
    assert [each.error for each in found.tool_calls] == ["TypeError: card declined"]
    assert found.failure is not None
