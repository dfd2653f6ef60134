"""Which journal entries may go: none too early, each once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_eval.pipeline.holding import Holding


def test_an_entry_goes_when_its_last_trace_is_stored() -> None:
    """Two traces share an entry; a trace has several."""
    holding = Holding(forwarding=False)
    holding.take(1, ["a", "b"])
    holding.take(2, ["a"])
    holding.let_go("a", holding.detach("a"))
    assert holding.free() == [2]
    holding.let_go("b", holding.detach("b"))
    assert holding.free() == [1]
    assert holding.free() == []


def test_what_no_trace_needs_goes_at_once() -> None:
    """Metrics; and entries whose spans were all left out."""
    holding = Holding(forwarding=False)
    holding.take(1, [])
    assert holding.free() == [1]


def test_with_forwarding_nothing_goes_before_it_was_sent_on() -> None:
    """Whichever of the two comes first."""
    holding = Holding(forwarding=True)
    holding.take(1, [])
    holding.take(2, ["a"])
    assert holding.free() == []
    holding.forwarded(2)
    assert holding.free() == [1]
    holding.let_go("a", holding.detach("a"))
    assert holding.free() == [2]
    holding.forwarded(9)
    holding.take(3, [])
    assert holding.free() == [3]


def test_what_comes_while_a_trace_is_being_stored_is_its_own() -> None:
    """The trace was taken back by a late span: that span's entry stays until it is stored in its turn."""
    holding = Holding(forwarding=False)
    holding.take(1, ["a"])
    storing = holding.detach("a")
    holding.take(2, ["a"])
    holding.let_go("a", storing)
    assert holding.free() == [1]
    holding.let_go("a", holding.detach("a"))
    assert holding.free() == [2]


@given(
    entries=st.lists(st.sets(st.sampled_from("abcd")), max_size=12),
    closes=st.lists(st.sampled_from("abcd"), max_size=8),
    sent=st.integers(0, 12),
)
def test_exactly_the_done_ones_go(entries: list[set[str]], closes: list[str], sent: int) -> None:
    """Whatever the order: an entry goes if all its traces are closed and it was sent on, and only then."""
    holding = Holding(forwarding=True)
    for seq, traces in enumerate(entries, start=1):
        holding.take(seq, traces)
    for trace_id in closes:
        holding.let_go(trace_id, holding.detach(trace_id))
    holding.forwarded(sent)
    done = [seq for seq, traces in enumerate(entries, start=1) if traces <= set(closes) and seq <= sent]
    assert holding.free() == done
