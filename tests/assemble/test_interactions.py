"""Which spans are one Interaction: what is its own, what is nested in it, and what is nobody's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import (
    Tool,
    agent_span,
    conversation,
    message,
    model_span,
    span,
)
from tests.assemble.kit import later, only, workflow


def test_the_topmost_agent_is_the_interaction_below_whatever_ordinary_spans() -> None:
    """An HTTP server's span above the agent, and a parent that lives elsewhere, change nothing."""
    server = span("POST /chat", kind=2, parent_id="00000000000000ff")
    spans = conversation(asked="hi", reply="hello", parent=server)
    found = only([server, *spans])
    assert (found.span_id, found.asked, found.reply, found.parent_id) == (spans[0].span_id, "hi", "hello", None)


def test_a_wrapper_with_one_agent_is_one_interaction_under_the_wrappers_id() -> None:
    """The workflow lends its id, the agent its name."""
    frame = workflow()
    found = only([frame, *conversation(asked="hi", reply="hello", agent="order-agent", parent=frame)])
    assert (found.span_id, found.agent, found.reply) == (frame.span_id, "order-agent", "hello")


def test_agents_in_a_row_are_a_handoff() -> None:
    """The frame is the first agent's Interaction, the next agent's is nested, and the reply is the last agent's."""
    frame = workflow()
    first = conversation(asked="refund me", reply="", agent="triage", parent=frame, tools=["transfer_to_refunds"])
    first = tuple(s for s in first if s.attributes["gen_ai.operation.name"] == "chat" or s is first[0])[:2]
    first = (
        replace(first[0], attributes={k: v for k, v in first[0].attributes.items() if "output" not in k}),
        first[1],
    )
    second = conversation(
        asked="refund me",
        reply="done",
        agent="refunds",
        parent=frame,
        tools=["issueRefund"],
        started_ns=later(frame, 9),
    )
    outer, inner = assemble([frame, *first, *second])
    assert (outer.agent, outer.reply, outer.tool_calls) == ("triage", "done", ())
    assert (inner.agent, inner.parent_id, [call.name for call in inner.tool_calls]) == (
        "refunds",
        outer.id,
        ["issueRefund"],
    )
    assert outer.totals.tool_calls == 1


def test_turns_in_one_frame_are_of_its_session() -> None:
    """Some say on the outermost span alone which conversation it is (Logfire, of the OpenAI Agents SDK)."""
    frame = span(
        "chat",
        attributes={"gen_ai.operation.name": "invoke_workflow", "gen_ai.conversation.id": "s-1", "user.id": "u-1"},
    )
    first = agent_span(asked="First", reply="Done.", parent=frame, session=None)
    second = agent_span(asked="Second", reply="Done.", parent=frame, session=None, started_ns=later(frame, 9))
    found = assemble([frame, first, second])
    assert [(each.asked, each.session, each.user_id) for each in found] == [
        ("First", "s-1", "u-1"),
        ("Second", "s-1", "u-1"),
    ]


def test_turns_in_one_frame_are_interactions_of_their_own() -> None:
    """A session's span around two invocations of the same agent, asked different things, is no Interaction."""
    frame = workflow()
    first = conversation(asked="one", reply="1", parent=frame)
    second = conversation(asked="two", reply="2", parent=frame, started_ns=later(frame, 9))
    found = assemble([frame, *first, *second])
    assert [(each.asked, each.parent_id) for each in found] == [("one", None), ("two", None)]


def test_an_agent_called_as_a_tool_is_nested() -> None:
    """Its tools and model calls are its own, and count in the outer one's totals once."""
    outer_spans = conversation(asked="plan", reply="planned", tools=[Tool(name="ask_expert", result="42")])
    tool = next(s for s in outer_spans if s.attributes["gen_ai.operation.name"] == "execute_tool")
    inner_spans = conversation(asked="what", reply="42", agent="expert", parent=tool, tools=["look"])
    outer, inner = assemble([*outer_spans, *inner_spans])
    assert inner.parent_id == outer.id
    assert [call.name for call in outer.tool_calls] == ["ask_expert"]
    assert (len(outer.model_calls), outer.totals.model_calls, outer.totals.tool_calls) == (2, 4, 2)
    assert (outer.usage.input_tokens, outer.totals.usage.input_tokens) == (200, 400)


def test_one_invocation_written_by_two_instrumentations_is_one() -> None:
    """An agent's span within an agent's span of the same name is the same invocation."""
    root = agent_span(asked=None, reply=None, agent="a", seconds=9)
    found = only([root, *conversation(asked="hi", reply="hello", agent="a", parent=root)])
    assert (found.span_id, found.asked, len(found.model_calls)) == (root.span_id, "hi", 1)


def test_one_model_call_written_by_two_instrumentations_is_one() -> None:
    """Nested spans of one call count once, and the one that has the content gives it."""
    root = agent_span(asked=None, reply=None)
    outer = model_span(parent=root, attributes={"gen_ai.response.id": "r1"})
    asked, said = [message("user", "hi")], [message("assistant", "hello")]
    inner = model_span(parent=outer, messages=asked, output=said, attributes={"gen_ai.response.id": "r1"})
    elsewhere = replace(inner, trace_id="e" * 32, span_id="e" * 16, parent_id=None)
    found = only([root, outer, inner, elsewhere])
    assert (found.asked, found.reply, len(found.model_calls), found.usage.input_tokens) == ("hi", "hello", 1, 100)


def test_our_own_spans_and_evaluators_are_left_out() -> None:
    """What is below a span of ours or of an evaluator is never an Interaction, in any order of arrival."""
    judge = span("evaluation toxicity", scope=Scope("otel_eval"))
    evaluator = span("evaluate", attributes={"openinference.span.kind": "EVALUATOR"})
    below = [*conversation(parent=judge), *conversation(parent=evaluator)]
    assert assemble([*below, judge, evaluator]) == ()


def test_parents_that_go_round_in_a_circle_are_survived() -> None:
    """Spans that are one another's parents are still put together, once."""
    root = agent_span(asked="hi", reply="hello")
    child = model_span(parent=root)
    found = assemble([replace(root, parent_id=child.span_id), child])
    assert [each.reply for each in found] == ["hello"]


@pytest.mark.parametrize("names", [0, 1, 3])
def test_agents_nest_as_deep_as_they_like(names: int) -> None:
    """Some that hand over in a circle nest without end: each is an Interaction within the one before; the same again, or
    one that says no name, is the same invocation."""
    spans: list[Span] = []
    for n in range(600):
        name = {"gen_ai.agent.name": f"a{n % names}"} if names else {}
        attributes = {"gen_ai.operation.name": "invoke_agent", **name}
        spans.append(span("invoke_agent", parent=spans[-1] if spans else None, attributes=attributes, seconds=10))
    found = assemble(spans)
    assert len(found) == (600 if names == 3 else 1)
    assert [each.parent_id for each in found] == [None, *(each.id for each in found[:-1])]
