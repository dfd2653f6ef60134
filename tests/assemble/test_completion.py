"""When an Interaction is complete, turned by a clock of the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.completion import Closed, Completion, CompletionSettings, Due
from otel_eval.assemble.nodes import join, observe
from otel_eval.signals import Resource, Span
from otel_eval.testing.spans import (
    SECOND_NS,
    START_NS,
    agent_span,
    log_record,
    message,
    model_span,
    new_span_id,
    span,
    tool_span,
)

SETTLE, ACROSS, IDLE, MAX_AGE = 2.0, 7.0, 300.0, 3600.0


class Clocked:
    """A Completion and the time, in seconds since the test began."""

    def __init__(self) -> None:
        self.completion = Completion(
            CompletionSettings(settle=SETTLE, settle_across_processes=ACROSS, idle=IDLE, max_age=MAX_AGE)
        )
        self.now = 0.0
        self.closed: list[str] = []
        self.kept: list[Closed] = []
        self.aliases: dict[str, str] = {}

    def add(self, *spans: Span) -> None:
        self.completion.add([observe(each) for each in spans], [], now=self.now)

    def until(self, when: float) -> list[str]:
        """Turn the clock; the ids that became complete on the way."""
        ready: list[str] = []
        while (deadline := self.completion.next_deadline()) is not None and deadline <= when:
            self.now = max(self.now, deadline)
            due: Due = self.completion.due(self.now)
            ready += [each.interaction.id for each in due.ready]
            self.closed += [each.trace_id for each in due.closed]
            self.kept += due.closed
            self.aliases.update(due.aliases)
        self.now = when
        return ready


def id_of(agent: Span) -> str:
    return f"{agent.trace_id}-{agent.span_id}"


def run(agent: Span) -> list[Span]:
    """An agent's span with a model call below it, as they arrive: the inner one first."""
    asked = [message("user", "Where is my order?")]
    return [
        model_span(parent=agent, messages=asked, output=[message("assistant", "It was delivered yesterday.")]),
        agent,
    ]


def test_a_whole_trace_of_one_process_settles_quickly() -> None:
    """Complete after ``settle`` of quiet, not before, and then closed."""
    clock, agent = Clocked(), agent_span()
    clock.add(*run(agent))
    assert clock.until(SETTLE - 0.01) == []
    assert clock.until(SETTLE) == [id_of(agent)]
    assert clock.closed == [agent.trace_id]
    assert clock.completion.open_traces == 0


def test_each_new_span_of_its_own_starts_the_quiet_anew() -> None:
    """A tool span that comes in time is waited for ``settle`` longer."""
    clock, agent = Clocked(), agent_span()
    clock.add(*run(agent))
    assert clock.until(1.5) == []
    clock.add(tool_span("getOrder", {"id": 1}, "delivered", parent=agent))
    assert clock.until(1.5 + SETTLE - 0.01) == []
    assert clock.until(1.5 + SETTLE) == [id_of(agent)]


def test_the_same_span_again_is_no_activity() -> None:
    """A retried batch does not hold an Interaction up."""
    clock, agent = Clocked(), agent_span()
    clock.add(*run(agent))
    clock.until(1.5)
    clock.add(agent)
    assert clock.until(SETTLE) == [id_of(agent)]


def test_an_agent_without_a_span_waits_for_the_one_whose_tool_it_is() -> None:
    """Its model calls come long before, and name it; it is never told as one that nobody called."""
    clock, agent = Clocked(), agent_span(agent="shop")
    tool = tool_span("refunds", {"id": 81}, "Gone.", parent=agent)
    asked, answer = [message("user", "Refund 81")], [message("assistant", "Gone.")]
    inner = model_span(parent=tool, messages=asked, output=answer, attributes={"gen_ai.agent.name": "refunds"})
    clock.add(inner)
    assert clock.until(60) == []
    clock.add(tool)
    assert clock.until(120) == []
    clock.add(*run(agent))
    assert sorted(clock.until(120 + SETTLE)) == sorted([id_of(agent), id_of(tool)])
    outer, nested = assemble([inner, tool, *run(agent)])
    assert (outer.agent, nested.agent, nested.parent_id) == ("shop", "refunds", outer.id)


def test_several_processes_get_their_export_delay() -> None:
    """A tool server's span may still be in its SDK's batch for 5 s."""
    clock, agent = Clocked(), agent_span()
    tool = tool_span(parent=agent)
    server = span("tools/call", parent=tool, resource=Resource({"service.name": "tool-server"}))
    clock.add(server, tool, *run(agent))
    assert clock.until(ACROSS - 0.01) == []
    assert clock.until(ACROSS) == [id_of(agent)]


def test_missing_content_gets_the_time_of_a_log_batch() -> None:
    """Messages that come as log records come with another exporter's delay."""
    clock, agent = Clocked(), agent_span(asked=None, reply=None)
    clock.add(model_span(parent=agent), agent)
    assert clock.until(ACROSS - 0.01) == []
    assert clock.until(ACROSS) == [id_of(agent)]


def test_an_open_span_below_the_agent_is_waited_for() -> None:
    """A model call whose parent, a step, has not ended: nothing is judged half-finished; then it ends, and it settles."""
    clock, agent = Clocked(), agent_span()
    step = span("step", parent=agent)
    clock.add(model_span(parent=step), agent)
    assert clock.until(200) == []
    clock.add(step)
    assert clock.until(200 + SETTLE) == [id_of(agent)]


def test_what_never_comes_is_waited_for_idle() -> None:
    """A dangling span holds the Interaction for ``idle`` of quiet and no longer."""
    clock, agent = Clocked(), agent_span()
    clock.add(model_span(parent=agent, parent_id=new_span_id()), agent)
    assert clock.until(IDLE - 0.01) == []
    assert id_of(agent) in clock.until(IDLE)


def test_activity_elsewhere_in_the_trace_holds_it_at_most_max_age() -> None:
    """A trace that never goes quiet does not keep an Interaction open for ever."""
    clock, agent = Clocked(), agent_span()
    clock.add(model_span(parent=agent, parent_id=new_span_id()), agent)
    ready: list[str] = []
    while clock.now < MAX_AGE and not ready:
        late_start = agent.ended_ns + round(clock.now * SECOND_NS)
        clock.add(span("later turn", parent=agent, parent_id=new_span_id(), started_ns=late_start))
        ready = clock.until(clock.now + IDLE / 2)
    assert ready == [id_of(agent)]
    assert MAX_AGE <= clock.now <= MAX_AGE + IDLE


def test_a_turn_that_ended_does_not_wait_for_the_next_one() -> None:
    """In one long trace the spans of a turn that is still open, which started later, hold nothing up."""
    clock = Clocked()
    session = span("session", seconds=3600)
    first = agent_span(parent=session)
    second_id = new_span_id()
    clock.add(session, *run(first))
    assert clock.until(1) == []
    later = first.ended_ns + SECOND_NS
    clock.add(model_span(parent=session, parent_id=second_id, started_ns=later))
    assert id_of(first) in clock.until(1 + SETTLE)


def test_an_inner_agent_waits_for_its_outer_one() -> None:
    """Its parent lives in the same process and is open: judged too early it would pass for a user's turn."""
    clock = Clocked()
    outer = agent_span(agent="outer", seconds=60)
    tool = tool_span("delegate", {"to": "inner"}, "done", parent=outer)
    inner = agent_span(agent="inner", parent=tool)
    clock.add(*run(inner))
    assert clock.until(100) == []
    clock.add(tool, *run(outer))
    assert sorted(clock.until(100 + SETTLE)) == sorted([id_of(outer), id_of(inner)])


def test_a_parent_in_another_process_is_not_waited_for() -> None:
    """The spans of a caller may be exported elsewhere: the topmost agent span received is the Interaction's."""
    clock = Clocked()
    agent = agent_span(parent_id=new_span_id(), parent_is_remote=True)
    clock.add(*run(agent))
    assert clock.until(ACROSS - 0.01) == []
    assert clock.until(ACROSS) == [id_of(agent)]


def test_parents_that_never_come_are_waited_for_once() -> None:
    """After one wait in vain the next Interaction of that agent takes ``settle_across_processes``."""
    clock = Clocked()
    first = agent_span(parent_id=new_span_id())
    clock.add(*run(first))
    assert clock.until(IDLE) == [id_of(first)]
    second = agent_span(parent_id=new_span_id())
    clock.add(*run(second))
    assert clock.until(IDLE + ACROSS) == [id_of(second)]


def test_parents_that_come_again_are_waited_for_again() -> None:
    """One parent that does come is enough to wait for the next ones."""
    clock = Clocked()
    first = agent_span(parent_id=new_span_id())
    clock.add(*run(first))
    clock.until(IDLE)
    request = span("POST /chat")
    second = agent_span(parent=request)
    clock.add(*run(second))
    clock.add(request)
    clock.until(IDLE + SETTLE)
    third = agent_span(parent_id=new_span_id())
    clock.add(*run(third))
    assert clock.until(clock.now + ACROSS) == []


def test_a_wrapper_that_comes_late_makes_an_alias() -> None:
    """A wrapper with one agent below it is one Interaction under the wrapper's id; the id told before means it."""
    clock = Clocked()
    wrapper = span("workflow", attributes={"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "shop"})
    agent = replace(agent_span(parent=wrapper), parent_is_remote=True)
    clock.add(*run(agent))
    clock.now = ACROSS
    due = clock.completion.due(clock.now)
    assert [each.interaction.id for each in due.ready] == [id_of(agent)]
    clock.completion.reopen(due.closed[0], now=clock.now)
    clock.add(wrapper)
    assert clock.until(2 * ACROSS) == [id_of(wrapper)]
    assert clock.aliases == {id_of(agent): id_of(wrapper)}


@pytest.mark.parametrize("apart", [0.5, 1.5, 3.0, 6.0])
def test_an_alias_comes_with_the_interaction_that_it_means(apart: float) -> None:
    """Not at a visit before that is complete: whoever stores it has to know whose revisions it goes on with."""
    clock = Clocked()
    flow = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "shop"}
    wrapper = span("workflow", attributes=flow, resource=Resource({"service.instance.id": "other"}))
    agent = replace(agent_span(parent=wrapper), parent_is_remote=True)
    clock.add(*run(agent))
    assert clock.until(ACROSS) == [id_of(agent)]
    clock.completion.reopen(clock.kept[-1], now=clock.now)
    clock.add(wrapper)
    clock.now += apart
    clock.add(model_span(parent=agent))  # so that there is a visit before the wrapper is complete
    while (deadline := clock.completion.next_deadline()) is not None:
        due = clock.completion.due(deadline)
        assert list(due.aliases.items()) == [(id_of(agent), each.interaction.id) for each in due.ready]
        clock.aliases.update(due.aliases)
    assert clock.aliases == {id_of(agent): id_of(wrapper)}


def test_an_orphan_told_before_its_agent_came_means_the_agent() -> None:
    """Work below a span that never came is told for itself, until the agent comes that it ran within."""
    clock, agent = Clocked(), agent_span(seconds=10)
    lost = "00000000000000aa"
    orphan = replace(run(agent)[0], parent_id=lost, parent_is_remote=True)
    clock.add(orphan)
    (told,) = clock.until(1000)
    assert told == f"{agent.trace_id}-{lost}"
    clock.completion.reopen(clock.kept[-1], now=clock.now)
    clock.add(agent)
    assert clock.until(2000) == [id_of(agent)]
    assert clock.aliases == {told: id_of(agent)}


def test_a_bare_loop_is_complete_with_its_answer() -> None:
    """Model calls that are traces of their own: a call for a tool is waited on, the answer ends the loop."""
    clock = Clocked()
    asked = message("user", "Where is my order?")
    call = message("assistant", {"type": "tool_call", "id": "c1", "name": "getOrder", "arguments": {"id": 1}})
    result = message("tool", {"type": "tool_call_response", "id": "c1", "response": "delivered"})
    first = model_span(messages=[asked], output=[call])
    clock.add(first)
    assert clock.until(100) == []
    second = model_span(
        messages=[asked, call, result], output=[message("assistant", "Delivered.")], started_ns=first.ended_ns + 1
    )
    clock.add(second)
    assert clock.until(100 + SETTLE) == [id_of(first)]
    assert sorted(clock.closed) == sorted([first.trace_id, second.trace_id])


@pytest.mark.parametrize(
    ("reason", "complete"),
    [
        ("stop", True),
        ("end_turn", True),
        ("max_tokens", True),
        ("tool_calls", False),
        ("completed", False),
        (None, False),
    ],
)
def test_a_bare_loop_without_content_is_complete_by_its_finish_reason(reason: str | None, complete: bool) -> None:
    """Where content is off, an answer is known by why the model stopped."""
    call = span(
        "chat m",
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            **({} if reason is None else {"gen_ai.response.finish_reasons": [reason]}),
        },
    )
    (found,) = assemble([call])
    assert found.complete == complete
    clock = Clocked()
    clock.add(call)
    assert clock.until(ACROSS) == ([id_of(call)] if complete else [])


def test_model_calls_whose_agent_is_open_are_no_interaction_yet() -> None:
    """They come before their agent's span, and must not be judged without it."""
    clock, agent = Clocked(), agent_span(seconds=120)
    model, _ = run(agent)
    clock.add(model)
    assert clock.until(120) == []
    clock.add(agent)
    assert clock.until(120 + SETTLE) == [id_of(agent)]


def test_ordinary_traces_are_let_go_of() -> None:
    """A trace without an agent costs its ids for a short while."""
    clock = Clocked()
    clock.add(span("GET /health"))
    assert clock.until(ACROSS) == []
    assert clock.completion.open_traces == 0
    assert len(clock.closed) == 1


def test_late_evidence_is_told_again_and_late_plumbing_is_not() -> None:
    """A reopened trace tells what changed; an HTTP span changes nothing."""
    clock, agent = Clocked(), agent_span()
    clock.add(*run(agent))
    due = None
    clock.now = SETTLE
    due = clock.completion.due(clock.now)
    (closed,) = due.closed
    clock.completion.reopen(closed, now=clock.now)
    clock.add(span("GET /orders", parent=agent))
    assert clock.until(20) == []
    clock.completion.reopen(closed, now=clock.now)
    clock.add(tool_span(parent=agent))
    assert clock.until(40) == [id_of(agent)]


@settings(deadline=None)  # a shared machine pauses
@given(order=st.permutations(range(6)), cuts=st.lists(st.integers(0, 6), max_size=4), pause=st.floats(0, SETTLE / 7))
def test_any_order_and_batching_gives_the_same_interactions(
    order: Sequence[int], cuts: Sequence[int], pause: float
) -> None:
    """However the spans of a nested run arrive within ``settle``, each Interaction is told once, as the trace tells it."""
    outer = agent_span(agent="outer", seconds=60)
    tool = tool_span("delegate", {"to": "inner"}, "done", parent=outer)
    inner = agent_span(agent="inner", parent=tool)
    spans = [*run(inner), tool, *run(outer), span("GET /orders", parent=tool)]
    clock, told = Clocked(), []
    bounds = sorted({0, *cuts, len(order)})
    for start, end in pairwise(bounds):
        clock.add(*(spans[index] for index in order[start:end]))
        told += clock.until(clock.now + pause)
    told += clock.until(clock.now + 2 * IDLE)
    assert sorted(told) == sorted(interaction.id for interaction in assemble(spans))
    assert clock.completion.open_traces == 0


def test_calls_of_their_own_traces_are_joined_by_what_their_log_records_say() -> None:
    """Content in log records ties a bare loop's calls as content on spans does, whichever comes first."""
    asked, answered = [message("user", "Where is my order?")], message("assistant", "It was delivered.")
    call = {"type": "tool_call", "id": "c1", "name": "getOrder", "arguments": {}}
    first, second = (
        model_span(messages=None, output=None, started_ns=START_NS + place * SECOND_NS) for place in range(2)
    )
    said = [
        *asked,
        message("assistant", call),
        message("tool", {"type": "tool_call_response", "id": "c1", "response": "x"}),
    ]
    records = [
        log_record(
            "gen_ai.client.inference.operation.details",
            span=each,
            attributes={"gen_ai.input.messages": told, "gen_ai.output.messages": [answer]},
        )
        for each, told, answer in ((first, asked, message("assistant", call)), (second, said, answered))
    ]
    for spans_first in (True, False):
        clock = Clocked()
        if spans_first:
            clock.add(first, second)
        clock.completion.add([], [note for each in records if (note := join(each)) is not None], now=clock.now)
        if not spans_first:
            clock.add(first, second)
        assert clock.until(MAX_AGE) == [id_of(first)]
        assert sorted(clock.closed) == sorted([first.trace_id, second.trace_id])


def test_another_spans_of_the_same_call_is_closed_with_it() -> None:
    """Two instrumentations write one call, each in a trace of its own: one Interaction, and nothing later."""
    clock = Clocked()
    ours = model_span(messages=[message("user", "Hi")], output=[message("assistant", "Hello.")])
    twin = model_span(messages=None, output=None)
    same = {"gen_ai.response.id": "resp_1"}
    clock.add(*(replace(each, attributes={**each.attributes, **same}) for each in (ours, twin)))
    assert len(clock.until(MAX_AGE)) == 1
    assert sorted(clock.closed) == sorted([ours.trace_id, twin.trace_id])
