"""What is deleted while it is judged leaves no record behind: the conversation would live on in the judge's words."""

from __future__ import annotations

import asyncio
import threading

from otel_eval.interaction import Interaction
from otel_eval.ledger import AsyncLedger, Batch, Change, Ledger, Stored, StoredInteraction
from otel_eval.record import EvaluationRecord
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record


def store(ledger: Ledger, *ones: Interaction) -> None:
    """As the dispatcher does before anything is judged."""
    ledger.commit(Batch(interactions=tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in ones)))


def left_of(ledger: Ledger) -> tuple[int, int]:
    """Records and entries of the outbox."""
    return len(list(ledger.records())), ledger.outbox_size()


def test_a_record_of_a_deleted_interaction_is_refused(ledger: Ledger) -> None:
    """Also under an id that was an alias of it; those of others in the same batch are stored."""
    gone, old, kept = interaction(), interaction(), interaction()
    store(ledger, gone, kept)
    ledger.commit(Batch(aliases={old.id: gone.id}))
    ledger.delete(interaction=gone.id)
    done = ledger.finish([evaluation_record(one) for one in (gone, old, kept)], of_known=True)
    assert [each.change for each in done] == [Change.FORGOTTEN, Change.FORGOTTEN, Change.NEW]
    assert left_of(ledger) == (1, 1)


def test_a_record_under_an_alias_is_of_a_known_interaction(ledger: Ledger) -> None:
    """It was judged under the id that it had before."""
    old, new = interaction(), interaction()
    store(ledger, old)
    ledger.commit(
        Batch(interactions=(StoredInteraction(interaction=new, revision=2, digest="e"),), aliases={old.id: new.id})
    )
    (done,) = ledger.finish([evaluation_record(old)], of_known=True)
    assert done.change is Change.NEW
    assert len(ledger.evaluations(new.id)) == 1


def test_a_record_of_what_no_ledger_holds_is_kept_unless_it_must_be_known(ledger: Ledger) -> None:
    """Experiments store records alone."""
    (done,) = ledger.finish([evaluation_record(interaction())])
    assert done.change is Change.NEW


async def test_writes_that_share_a_transaction_keep_their_own_rule(ledger: Ledger) -> None:
    """One that must be known and one that need not be, handed in together; who listens hears of what was stored."""
    heard: list[Stored] = []
    async with AsyncLedger(ledger) as shared:
        with shared.listening(heard.extend):
            gone, free = evaluation_record(interaction()), evaluation_record(interaction())
            (refused,), (kept,) = await asyncio.gather(shared.finish([gone], of_known=True), shared.finish([free]))
        assert (refused.change, kept.change) == (Change.FORGOTTEN, Change.NEW)
        assert [each.record for each in heard] == [free]


def race(ledger: Ledger, rounds: int = 40) -> None:
    """Delete an Interaction and store its record at the same moment, again and again: neither order leaves the record."""
    for _ in range(rounds):
        one = interaction()
        store(ledger, one)
        record: EvaluationRecord = evaluation_record(one)
        start = threading.Barrier(2)

        def judge(record: EvaluationRecord = record, start: threading.Barrier = start) -> None:
            start.wait(10)
            ledger.finish([record], of_known=True)

        judging = threading.Thread(target=judge)
        judging.start()
        start.wait(10)
        ledger.delete(interaction=one.id)
        judging.join(10)
        assert left_of(ledger) == (0, 0)


def test_deleting_races_storing(ledger: Ledger) -> None:
    """Two threads, one transaction each."""
    race(ledger)
