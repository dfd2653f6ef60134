"""Whatever the order of arrival: the same record is current, and each live evaluation is counted once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_eval.ledger import Batch, Change, Ledger, StoredInteraction
from otel_eval.outcome import Failed, Passed
from otel_eval.record import Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record

ONE = interaction(trace_id="1" * 32, span_id="2" * 16)
KEYS = [(evaluator, revision, attempt) for evaluator in ("a", "b") for revision in (1, 2, 3) for attempt in (0, 1)]


def record(evaluator, revision, attempt, origin=Origin.LIVE):
    outcome = Passed(explanation="ok") if (revision + attempt) % 2 else Failed(explanation="no")
    return evaluation_record(
        ONE, evaluator, outcome, revision=revision, attempt=attempt, origin=origin, started_ns=revision
    )


def batches(draw_list):
    return st.lists(st.lists(draw_list, min_size=1, max_size=4), min_size=1, max_size=10)


@settings(max_examples=30)
@given(batches(st.sampled_from(KEYS)))
def test_the_highest_revision_and_attempt_is_current_in_any_order(commits):
    """Any order, any batching, any repetition: per evaluator the highest (revision, attempt) that was ever stored."""
    with Ledger.open("sqlite://") as ledger:
        for keys in commits:
            ledger.commit(Batch(records=tuple(record(*key) for key in keys)))
        highest = {}
        for evaluator, *rank in (key for keys in commits for key in keys):
            highest[evaluator] = max(highest.get(evaluator, (0, 0)), tuple(rank))
        current = {one.evaluator: (one.revision, one.attempt) for one in ledger.current()}
        assert current == highest
        assert {one.evaluator: (one.revision, one.attempt) for one in ledger.current(interaction_id=ONE.id)} == highest


@settings(max_examples=30)
@given(batches(st.sampled_from(KEYS)))
def test_each_evaluator_is_new_exactly_once(commits):
    """In any order an evaluator's first verdict is counted, once; what is revised says from what."""
    with Ledger.open("sqlite://") as ledger:
        done = [one for keys in commits for one in ledger.commit(Batch(records=tuple(record(*key) for key in keys)))]
    for evaluator in {one.record.evaluator for one in done}:
        mine = [one for one in done if one.record.evaluator == evaluator]
        assert [one.change for one in mine].count(Change.NEW) == 1
        assert mine[0].change is Change.NEW
        for one in mine:
            if one.change is Change.REVISED:
                assert one.previous not in (None, one.record.outcome.name)


@settings(max_examples=20)
@given(st.permutations([1, 2, 3]))
def test_the_newest_interaction_stays_in_any_order(revisions):
    """Revisions of an Interaction may be stored in any order."""
    with Ledger.open("sqlite://") as ledger:
        for revision in revisions:
            one = interaction(trace_id="1" * 32, span_id="2" * 16, reply=f"reply {revision}")
            stored = StoredInteraction(interaction=one, revision=revision, digest=str(revision))
            ledger.commit(Batch(interactions=(stored,)))
        assert ledger.interaction(ONE.id).reply == "reply 3"


CHANGES = [
    ("first", [], (1, 0), Change.NEW, None),
    ("same outcome later", [(1, 0)], (3, 0), Change.CONFIRMED, "passed"),
    ("other outcome later", [(1, 0)], (2, 0), Change.REVISED, "passed"),
    ("older than what is there", [(2, 0)], (1, 0), Change.STALE, None),
    ("the same again", [(1, 0)], (1, 0), Change.DUPLICATE, None),
]


@pytest.mark.parametrize(("case", "before", "now", "change", "previous"), CHANGES, ids=[row[0] for row in CHANGES])
def test_what_storing_a_record_changed(ledger, case, before, now, change, previous):
    """The table of changes."""
    for rank in before:
        ledger.finish([record("a", *rank)])
    (done,) = ledger.finish([record("a", *now)])
    assert (done.change, done.previous) == (change, previous)


def test_a_rerun_is_new_and_moves_no_live_verdict(ledger):
    """A re-run counts for itself; a live revision after it is compared with the live verdict before it."""
    ledger.finish([record("a", 1, 0)])
    (again,) = ledger.finish([record("a", 1, 1, Origin.RERUN)])
    assert again.change is Change.NEW
    (revised,) = ledger.finish([record("a", 2, 0)])
    assert (revised.change, revised.previous) == (Change.REVISED, "passed")


def test_an_old_record_does_not_stand_in_for_a_current_one_that_falls_outside(ledger):
    """A time bound is tried on the current record alone; ``origin`` asks for the current one of that origin."""
    ledger.finish([record("a", 1, 0), record("a", 2, 0), record("a", 2, 1, Origin.RERUN)])
    assert [one.attempt for one in ledger.current()] == [1]
    assert [one.revision for one in ledger.current(origin=Origin.LIVE)] == [2]
    assert list(ledger.current(until_ns=1_000_002)) == []
