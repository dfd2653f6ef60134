"""Spans whose parent never came, in the trace of an agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Resource, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, agent_span, message, model_span, span, tool_span

LOST = "00000000000000aa"
"""The id of a span that never came."""
OTHER = "00000000000000bb"


def agent(name: str = "support-agent", at: float = 0, seconds: float = 10, **fields: Any) -> Span:
    """An agent's span that starts so many seconds after the others."""
    return agent_span(agent=name, started_ns=START_NS + round(at * SECOND_NS), seconds=seconds, **fields)


def orphan(of: Span, at: float = 2, seconds: float = 1, parent_id: str = LOST, **fields: Any) -> Span:
    """A model call in the agent's trace, below a span that never came."""
    return model_span(
        parent=of,
        messages=[message("user", "Where is my order?")],
        output=[message("assistant", "It was delivered yesterday.")],
        started_ns=of.started_ns + round(at * SECOND_NS),
        seconds=seconds,
        parent_id=parent_id,
        **fields,
    )


def test_what_ran_within_one_agent_is_its_own() -> None:
    """A model call and a tool below a lost span are the agent's evidence, not Interactions of their own."""
    root = agent()
    call = orphan(root)
    tool = tool_span("getOrder", {"id": 9}, {"status": "delivered"}, parent=root, started_ns=root.started_ns + 1)
    tool = span(**{**_fields(tool), "parent_id": OTHER})
    (found,) = assemble([tool, call, root])
    assert [made.span_id for made in found.model_calls] == [call.span_id]
    assert [(made.name, made.arguments) for made in found.tool_calls] == [("getOrder", {"id": 9})]


def _fields(of: Span) -> dict[str, Any]:
    names = ("name", "trace_id", "span_id", "parent_id", "started_ns", "ended_ns", "attributes", "resource", "scope")
    return {name: getattr(of, name) for name in names}


def test_a_sub_agent_whose_parent_is_lost_is_nested() -> None:
    """An agent of another name that ran within the first is a nested Interaction."""
    root = agent()
    inner = agent_span(
        agent="lookup", parent=root, parent_id=LOST, started_ns=root.started_ns + SECOND_NS, seconds=1, session=None
    )
    outer, nested = assemble([inner, root])
    assert (outer.agent, nested.agent, nested.parent_id) == ("support-agent", "lookup", outer.id)


@pytest.mark.parametrize(
    ("case", "at", "seconds", "fields"),
    [
        ("ends after the agent", 9.5, 1, {}),
        ("starts before the agent", -0.5, 1, {}),
        ("another process", 2, 1, {"resource": Resource({"service.name": "mail"})}),
        ("another conversation", 2, 1, {"attributes": {"gen_ai.conversation.id": "session-2"}}),
        ("another agent's", 2, 1, {"attributes": {"gen_ai.agent.name": "sales-agent"}}),
    ],
)
def test_doubt_leaves_it_alone(case: str, at: float, seconds: float, fields: dict[str, Any]) -> None:
    """Where time, process, conversation or name speak against it, the agent does not get the call."""
    root = agent()
    found = assemble([root, orphan(root, at, seconds, **fields)])
    assert [made.model_calls for made in found if made.agent == "support-agent" and made.span_id == root.span_id] == [
        ()
    ], case
    assert len(found) == 2


def test_two_agents_around_it_are_a_doubt() -> None:
    """Agents that ran side by side: the call could be either's, so it is neither's."""
    top = span("batch", seconds=10)
    first = agent("first", parent=top, session=None)
    second = agent("second", parent=top, session=None)
    found = assemble([top, first, second, orphan(first)])
    assert [len(made.model_calls) for made in found if made.agent in ("first", "second")] == [0, 0]


def test_siblings_below_one_lost_parent_are_none_of_one_anothers() -> None:
    """A call that misses the same parent as the agent's span ran beside it."""
    root = agent(parent_id=LOST)
    found = assemble([root, orphan(root, parent_id=LOST)])
    assert [made.model_calls for made in found if made.span_id == root.span_id] == [()]


@given(
    at=st.floats(-2, 12, allow_nan=False),
    seconds=st.floats(0, 12, allow_nan=False),
    shuffle=st.randoms(use_true_random=False),
)
def test_adopted_exactly_if_wholly_within(at: float, seconds: float, shuffle: Any) -> None:
    """The call is the agent's if and only if it lies within the agent's span, in whatever order the spans come."""
    root = agent()
    call = orphan(root, at, seconds)
    spans = [root, call, tool_span("t", parent=call)]
    shuffle.shuffle(spans)
    whole = [root.started_ns, root.ended_ns] == [call.started_ns, call.ended_ns]
    within = root.started_ns <= call.started_ns and call.ended_ns <= root.ended_ns and not whole
    found = {made.span_id: made for made in assemble(spans)}
    assert bool(found[root.span_id].model_calls) == within
    assert sum(len(made.model_calls) for made in found.values()) == 1


@pytest.mark.parametrize(("parallel", "inside"), [(False, True), (True, False)])
def test_what_an_agent_without_its_span_did_is_the_tools_that_asked_it(parallel: bool, inside: bool) -> None:
    """Its model calls and tools, which have one lost parent, all ran within one tool's span; within two, nobody can say."""
    root = agent()
    asking = tool_span("ask_expert", {"q": "?"}, "five days", parent=root, started_ns=START_NS + SECOND_NS, seconds=5)
    others = []
    if parallel:
        others = [tool_span("wait", {}, "ok", parent=root, started_ns=START_NS + SECOND_NS, seconds=6)]
    call = orphan(root)
    inner = tool_span("lookup", {"t": 1}, "five days", parent=root, started_ns=START_NS + 4 * SECOND_NS)
    inner = span(**{**_fields(inner), "parent_id": LOST})
    (found,) = assemble([inner, call, asking, root, *others])
    assert ("lookup" not in [made.name for made in found.tool_calls]) is inside
    assert [made.span_id for made in found.model_calls] == [call.span_id]


def test_what_ran_within_no_agent_belongs_to_the_workflow_around() -> None:
    """A step before the first agent lost its parent, which may have been another agent: the name is nobody's."""
    flow = span(
        "flow", attributes={"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "flow"}, seconds=20
    )
    helper = agent(at=5, parent=flow)
    call = orphan(flow, at=1)
    (found,) = assemble([flow, helper, call])
    assert (found.agent, [made.span_id for made in found.model_calls]) == (None, [call.span_id])
