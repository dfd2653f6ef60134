"""The lists that something works off: waiting evaluations, the outbox, and what judges spent."""

from __future__ import annotations

from dataclasses import replace

from otel_eval.ledger import Backlog, Batch, Ledger, StoredInteraction, WaitingEvaluation
from otel_eval.record import Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record


def waiting(evaluation_id, **fields):
    about = {"interaction_id": "i", "evaluator": "polite", "evaluator_version": "1", "check": "judge"}
    return WaitingEvaluation(evaluation_id=evaluation_id, **{**about, **fields})


def ids(entries):
    return [entry.evaluation_id for entry in entries]


def test_what_waits_comes_in_order_and_as_it_was(ledger):
    """By the time it was put in, then by id; page by page from behind the last."""
    second = waiting("b", enqueued_ns=1, not_before_ns=5, revision=2, attempt=1, origin=Origin.RERUN)
    ledger.commit(Batch(waiting=(waiting("c", enqueued_ns=2), second, waiting("a", enqueued_ns=1))))
    assert ids(ledger.waiting()) == ["a", "b", "c"]
    assert ledger.waiting()[1] == second
    page = ledger.waiting(1)
    assert ids(ledger.waiting(1, after=(page[0].enqueued_ns, page[0].evaluation_id))) == ["b"]


def test_what_is_held_back_is_not_due(ledger):
    """Postponed ones stay in the list and in the backlog, and are due again at their time."""
    ledger.commit(Batch(waiting=(waiting("a", enqueued_ns=7), waiting("b", enqueued_ns=8))))
    ledger.postpone(["a", "unknown"], 100)
    assert ids(ledger.waiting(due_ns=99)) == ["b"]
    assert ids(ledger.waiting(due_ns=100)) == ["a", "b"]
    assert ledger.backlog() == Backlog(count=2, oldest_ns=7)


def test_the_backlog_has_an_age(ledger):
    """Seconds since the oldest was put in; 0 with none, and 0 where the clock was set back."""
    assert ledger.backlog().age_seconds(10**9) == 0
    ledger.commit(Batch(waiting=(waiting("a", enqueued_ns=10**9),)))
    assert ledger.backlog().age_seconds(3 * 10**9) == 2
    assert ledger.backlog().age_seconds(0) == 0


def test_finishing_takes_off_the_list_and_puts_into_the_outbox(ledger):
    """One transaction: the record is there, the waiting row is gone, the export is queued."""
    record = evaluation_record(interaction())
    ledger.commit(Batch(waiting=(waiting(record.id), waiting("other"))))
    ledger.finish([record])
    assert ids(ledger.waiting()) == ["other"]
    assert [entry.record for entry in ledger.unexported()] == [record]


def test_what_has_ended_does_not_wait_again(ledger):
    """The same work handed in again after a crash: the ended evaluation keeps its record and is not run twice."""
    record = evaluation_record(interaction())
    ledger.finish([record])
    ledger.commit(Batch(waiting=(waiting(record.id), waiting("new"), waiting("new"))))
    assert ids(ledger.waiting()) == ["new"]


def test_a_new_revision_supersedes_what_waited_for_the_old_one(ledger):
    """Rows for an older revision of that Interaction go; those of the new one and of others stay."""
    one = interaction()
    old = waiting("old", interaction_id=one.id, revision=1)
    ledger.commit(Batch(waiting=(old, waiting("other"))))
    new = replace(old, evaluation_id="new", revision=2)
    stored = StoredInteraction(interaction=one, revision=2, digest="d2")
    ledger.commit(Batch(interactions=(stored,), waiting=(new,)))
    assert ids(ledger.waiting()) == ["new", "other"]


def test_waiting_evaluations_can_be_discarded(ledger):
    """An evaluator that is gone from the configuration leaves nothing behind."""
    ledger.commit(Batch(waiting=(waiting("a"), waiting("b"))))
    ledger.discard_waiting(["a"])
    assert ids(ledger.waiting()) == ["b"]


def test_the_outbox_keeps_the_order_of_storing(ledger):
    """In the order they were stored, whatever their times; what is marked does not come back."""
    records = [evaluation_record(interaction(), started_ns=start) for start in (3, 1, 2)]
    for record in records:
        ledger.finish([record])
    entries = ledger.unexported(2)
    assert [entry.record for entry in entries] == records[:2]
    ledger.mark_exported(entry.sequence for entry in entries)
    assert [entry.record for entry in ledger.unexported()] == records[2:]
    assert ledger.outbox_size() == 1


def test_offline_evaluations_are_not_exported(ledger):
    """They are nobody's production traffic."""
    ledger.finish([evaluation_record(interaction(), origin=Origin.OFFLINE)])
    assert ledger.outbox_size() == 0


def test_without_an_exporter_nothing_is_queued(url):
    """An outbox that nobody empties would only grow."""
    with Ledger.open(url, outbox=False) as ledger:
        record = evaluation_record(interaction())
        ledger.finish([record])
        assert ledger.outbox_size() == 0
        assert ledger.record(record.id) == record


def test_what_is_exported_again_is_what_it_was(ledger):
    """A later revision of the Interaction does not change the entry of the record that was stored before it."""
    one = interaction(seconds=1)
    ledger.commit(
        Batch(
            interactions=(StoredInteraction(interaction=one, revision=1, digest="d1"),),
            records=(evaluation_record(one),),
        )
    )
    before = ledger.unexported()
    longer = replace(one, ended_ns=one.ended_ns + 10**12)
    ledger.commit(Batch(interactions=(StoredInteraction(interaction=longer, revision=2, digest="d2"),)))
    assert ledger.unexported() == before


def test_spending_adds_up_and_survives_a_restart(url):
    """Per model and day, in dollars and tokens."""
    with Ledger.open(url) as ledger:
        ledger.add("default", "2026-11-30", 0.25, 100)
        ledger.add("default", "2026-11-30", 0.5, 20)
        ledger.add("default", "2026-12-01", 9.0, 1)
    with Ledger.open(url) as ledger:
        assert ledger.spent("default", "2026-11-30") == (0.75, 120)
        assert ledger.spent("other", "2026-11-30") == (0.0, 0)
