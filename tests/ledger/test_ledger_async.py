"""The pipeline's way in: shared transactions, isolated failures, nothing lost at the end."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time

import pytest
from sqlalchemy import event

from otel_eval.ledger import AsyncLedger, Batch, Change, Ledger, LedgerError, StoredInteraction
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record


def batch(one, **fields):
    stored = StoredInteraction(interaction=one, revision=1, digest="d")
    return Batch(interactions=(stored,), records=(evaluation_record(one, **fields),))


async def test_writes_that_come_meanwhile_share_a_transaction(url):
    """A hundred concurrent commits need far fewer transactions, and all are stored."""
    ones = [interaction() for _ in range(100)]
    async with await AsyncLedger.open(url) as ledger:
        commits = []
        event.listen(ledger.ledger._database._writer, "commit", lambda connection: commits.append(1))
        await asyncio.gather(*(ledger.commit(batch(one)) for one in ones))
        assert len(commits) < 50
        assert (await ledger.interaction(ones[-1].id)) == ones[-1]
        assert len(await ledger.unexported(1000)) == 100


async def test_a_write_that_fails_fails_alone(url):
    """Its neighbours in the same transaction are stored all the same."""
    good, bad = interaction(), interaction(trace_id="0" * 31 + "9")
    broken = StoredInteraction(interaction=bad, revision=None, digest="d")
    async with await AsyncLedger.open(url) as ledger:
        results = await asyncio.gather(
            ledger.commit(batch(good)),
            ledger.commit(Batch(interactions=(broken,))),
            ledger.commit(batch(interaction())),
            return_exceptions=True,
        )
        assert [type(result) for result in results[::2]] == [tuple, tuple]
        assert isinstance(results[1], LedgerError)
        assert (await ledger.interaction(good.id)) == good


async def test_listeners_hear_what_was_stored(url):
    """After the transaction, with what each record changed; nothing where no record was in it."""
    heard = []
    one = interaction()
    async with await AsyncLedger.open(url) as ledger:
        with ledger.listening(heard.append):
            await ledger.commit(batch(one))
            await ledger.postpone(["x"], 1)
        await ledger.commit(batch(interaction()))
    assert [[done.change for done in stored] for stored in heard] == [[Change.NEW]]


async def test_listeners_hear_of_a_write_that_nobody_waits_for(url):
    """A task that was cancelled amid its write: what it stored is exported and counted all the same."""
    heard = asyncio.Event()
    async with await AsyncLedger.open(url) as ledger:
        with ledger.listening(lambda stored: heard.set()):
            task = asyncio.create_task(ledger.commit(batch(interaction())))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait_for(heard.wait(), 10)


async def test_closing_finishes_what_was_handed_in(url):
    """Writes that were begun are stored; later ones are refused."""
    ones = [interaction() for _ in range(20)]
    ledger = await AsyncLedger.open(url)
    writes = [asyncio.create_task(ledger.commit(batch(one))) for one in ones]
    await asyncio.sleep(0)
    await ledger.close()
    await asyncio.gather(*writes)
    with pytest.raises(LedgerError):
        await ledger.commit(batch(ones[0]))
    with Ledger.open(url) as again:
        assert len(list(again.interactions())) == 20


async def test_a_cancelled_write_does_not_stop_the_writer(url):
    """Whether it is stored is open; the next write is."""
    async with await AsyncLedger.open(url) as ledger:
        task = asyncio.create_task(ledger.commit(batch(interaction())))
        await asyncio.sleep(0)
        task.cancel()
        one = interaction()
        await ledger.commit(batch(one))
        assert (await ledger.interaction(one.id)) == one


KILLED = """
import sys
from otel_eval.ledger import Batch, Ledger, StoredInteraction
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record
with Ledger.open(sys.argv[1]) as ledger:
    while True:
        one = interaction()
        record = evaluation_record(one)
        ledger.commit(Batch(interactions=(StoredInteraction(interaction=one, revision=1, digest="d"),), records=(record,)))
        print(record.id, flush=True)
"""


def test_what_was_returned_survives_kill_9(url):
    """Every record whose commit had returned is there, with its Interaction and its place in the outbox, exactly once."""
    process = subprocess.Popen([sys.executable, "-c", KILLED, url], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    returned = [process.stdout.readline().strip() for _ in range(50)]
    process.send_signal(signal.SIGKILL)
    returned += [line.strip() for line in process.stdout.readlines() if line.endswith("\n")]
    process.wait()
    process.stdout.close()
    with Ledger.open(url) as ledger:
        kept = [record.id for record in ledger.records()]
        assert set(returned) <= set(kept)
        assert len(kept) == len(set(kept)) == len(list(ledger.interactions())) == ledger.outbox_size()


def test_thousands_of_records_a_second(url):
    """A sanity bound, far below what an idle core does: 5,000 records/s committed in batches, Interactions included."""
    batches = []
    for _ in range(8):
        ones = [interaction() for _ in range(250)]
        batches.append(
            Batch(
                interactions=tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in ones),
                records=tuple(evaluation_record(one, evaluator) for one in ones for evaluator in ("a", "b")),
            )
        )
    with Ledger.open(url) as ledger:
        ledger.commit(batches[0])
        started = time.process_time()
        for each in batches[1:]:
            ledger.commit(each)
        spent = time.process_time() - started
    assert 3500 / spent > 5000, f"{3500 / spent:.0f} records per second of CPU"


async def test_evaluations_that_end_together_are_stored_as_one_batch(url):
    """Each is told what became of its own; the statements are those of one record."""
    ones = [interaction() for _ in range(30)]
    async with await AsyncLedger.open(url) as ledger:
        await ledger.commit(
            Batch(interactions=tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in ones))
        )
        inserted = []
        engine = ledger.ledger._database._writer

        def executed(connection, cursor, statement, *rest):
            inserted.extend([statement] if statement.startswith("INSERT INTO records") else [])

        event.listen(engine, "after_cursor_execute", executed)
        results = await asyncio.gather(*(ledger.finish([evaluation_record(one)]) for one in ones))
        assert [[stored.record.interaction_id for stored in result] for result in results] == [[one.id] for one in ones]
        assert len(inserted) < 10
        assert [entry.record.interaction_id for entry in await ledger.unexported()] == [one.id for one in ones]


async def test_a_record_handed_in_twice_at_once_is_stored_once(url):
    """The second is a duplicate, also within one batch."""
    one = interaction()
    async with await AsyncLedger.open(url) as ledger:
        first, *others = (evaluation_record(each) for each in (interaction(), one, one))
        results = await asyncio.gather(*(ledger.finish([record]) for record in (first, others[0], others[0])))
        assert [result[0].change for result in results] == [Change.NEW, Change.NEW, Change.DUPLICATE]


async def test_a_bill_is_stored_no_later_than_the_record_behind_it(url):
    """Nobody waits for it; bills of one model and day are added up."""
    async with await AsyncLedger.open(url) as ledger:
        bills = [ledger.hand_in("m", "2025-01-01", 0.25, 10) for _ in range(4)]
        await ledger.finish([evaluation_record(interaction())])
        with Ledger.open(url) as reader:
            spent = reader.spent("m", "2025-01-01")
        assert (spent.usd, spent.tokens) == (1.0, 40)
        await asyncio.wait_for(asyncio.gather(*bills), 10)


async def test_a_bill_without_a_record_is_stored_all_the_same(url):
    """An evaluation may end without one: cancelled, or asked again."""
    async with await AsyncLedger.open(url) as ledger:
        await asyncio.wait_for(ledger.hand_in("m", "2025-01-01", 0.25, 10), 10)
        assert (await ledger.spent("m", "2025-01-01")).tokens == 10


async def test_a_bill_that_is_refused_leaves_its_record(url):
    """Each is tried alone where they fail together."""
    async with await AsyncLedger.open(url) as ledger:
        bill = ledger.hand_in(None, "2025-01-01", 0.25, 10)
        [stored] = await ledger.finish([evaluation_record(interaction())])
        assert stored.change is Change.NEW
        with pytest.raises(LedgerError):
            await bill
