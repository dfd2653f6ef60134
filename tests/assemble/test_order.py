"""The Interactions depend on the set of spans and log records alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_eval.assemble.assembler import assemble, assemble_nodes
from otel_eval.assemble.digest import revision_digest
from otel_eval.assemble.nodes import join, observe
from otel_eval.assemble.trace_ties import ties
from otel_eval.interaction import Interaction
from otel_eval.receive.files import Recording, read_path
from otel_eval.signals import LogRecord, Span

RECORDINGS = Path(__file__).parent / "recordings"
NAMES = sorted(path.name for path in RECORDINGS.iterdir())


@cache
def recorded(name: str) -> tuple[Recording, tuple[Interaction, ...]]:
    """A recording and what it comes out as in its own order."""
    recording = read_path(RECORDINGS / name)
    return recording, assemble(recording.spans, recording.logs)


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[str, list[Span], list[LogRecord]]:
    """A recording in any order, with any of its spans and records sent again."""
    name = draw(st.sampled_from(NAMES))
    recording, _ = recorded(name)
    spans = recording.spans + draw(st.lists(st.sampled_from(recording.spans), max_size=4))
    logs = list(recording.logs)
    if logs:
        logs += draw(st.lists(st.sampled_from(recording.logs), max_size=4))
    return name, draw(st.permutations(spans)), draw(st.permutations(logs))


@settings(max_examples=120)
@given(arrivals())
def test_any_order_and_repetition_gives_the_same(arrived: tuple[str, list[Span], list[LogRecord]]) -> None:
    """Shuffled and sent twice, spans and log records come out as they did in order."""
    name, spans, logs = arrived
    assert assemble(spans, logs) == recorded(name)[1]


@settings(max_examples=40)
@given(arrivals())
def test_a_driver_that_keeps_nodes_sees_the_same(arrived: tuple[str, list[Span], list[LogRecord]]) -> None:
    """Facts kept one by one at arrival give what the spans themselves give."""
    name, spans, logs = arrived
    nodes = [observe(span) for span in spans]
    notes = [note for record in logs if (note := join(record)) is not None]
    assert assemble_nodes(nodes, notes) == recorded(name)[1]


@settings(max_examples=80)
@given(arrivals(), st.data())
def test_any_part_of_a_trace_can_be_put_together(
    arrived: tuple[str, list[Span], list[LogRecord]], data: st.DataObject
) -> None:
    """Whatever has not arrived yet, nothing breaks, ids are unique, and parents are Interactions that are there."""
    _, spans, logs = arrived
    some = spans[: data.draw(st.integers(0, len(spans)))]
    found = assemble(some, logs)
    ids = {interaction.id for interaction in found}
    assert len(ids) == len(found)
    assert {interaction.parent_id for interaction in found} - {None} <= ids


@pytest.mark.parametrize("name", NAMES)
def test_an_ordinary_span_is_no_evidence(name: str) -> None:
    """A late HTTP span below the agent changes no digest, so it makes no revision."""
    recording, before = recorded(name)
    top = recording.spans[0]
    late = replace(
        top,
        span_id="00000000000000aa",
        parent_id=top.span_id,
        name="GET",
        kind=3,
        attributes={"http.request.method": "GET"},
        events=(),
        links=(),
    )
    after = assemble([*recording.spans, late], recording.logs)
    assert [revision_digest(each) for each in after] == [revision_digest(each) for each in before]


@pytest.mark.parametrize("name", NAMES)
def test_traces_apart_give_what_they_give_together(name: str) -> None:
    """Traces that no tie joins can be put together one by one: that is what a live driver does."""
    recording, together = recorded(name)
    groups: list[tuple[set[str], list[Span | LogRecord]]] = []
    for arrived in (*recording.spans, *recording.logs):
        seen = observe(arrived) if isinstance(arrived, Span) else join(arrived)
        keys = {f"trace:{arrived.trace_id}", *(() if seen is None else ties(seen))}
        joined = [group for group in groups if group[0] & keys]
        groups = [group for group in groups if not group[0] & keys]
        for other_keys, _ in joined:
            keys |= other_keys
        groups.append((keys, [arrived, *(other for _, members in joined for other in members)]))
    apart = [
        each
        for _, members in groups
        for each in assemble(
            [one for one in members if isinstance(one, Span)], [one for one in members if isinstance(one, LogRecord)]
        )
    ]
    assert sorted(apart, key=lambda each: each.id) == sorted(together, key=lambda each: each.id)
