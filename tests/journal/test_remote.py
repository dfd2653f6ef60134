"""A journal whose consumer is at the other end of a socket: the same as one at hand."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from otel_eval.journal import ClosedTrace, Journal, JournalClosed, JournalCorrupt, JournalFull, Request
from otel_eval.journal.frames import Frames, pair
from otel_eval.journal.remote import RemoteConsumer, serve_consumer
from otel_eval.testing.clock import ManualClock

TRACE = "0af7651916cd43dd8448eb211c80319c"


def request(body: bytes = b"body") -> Request:
    return Request(signal="traces", encoding="protobuf", body=body)


@asynccontextmanager
async def both(directory: Path, max_bytes: int = 10_000) -> AsyncIterator[tuple[Journal, RemoteConsumer]]:
    """The two ends; in one process here, which makes no difference to either."""
    ours, theirs = pair()
    async with await Journal.open(directory, clock=ManualClock(), max_bytes=max_bytes) as journal:
        near, far = await Frames.over(ours), await Frames.over(theirs)
        serving = asyncio.create_task(serve_consumer(journal, near))
        async with await RemoteConsumer.attach(directory, far) as consumer:
            yield journal, consumer
        await asyncio.wait_for(serving, 10)
        await near.close()


async def test_entries_come_in_order_also_those_that_arrive_later(tmp_path: Path) -> None:
    """What was there, and what is appended while the consumer waits."""
    async with both(tmp_path) as (journal, consumer):
        await journal.append(request(b"1"))
        bodies: list[bytes] = []
        async with asyncio.timeout(10):
            async for entry in consumer.entries():
                bodies.append(entry.request.body)
                if len(bodies) == 4:
                    break
                await journal.append(request(b"%d" % (len(bodies) + 1)))
    assert bodies == [b"1", b"2", b"3", b"4"]


async def test_releasing_makes_room_for_senders(tmp_path: Path) -> None:
    """The count of bytes is kept where requests are taken in."""
    async with both(tmp_path) as (journal, consumer):
        seq = await journal.append(request(b"x" * 9_000))
        with pytest.raises(JournalFull):
            await journal.append(request(b"x" * 9_000))
        await consumer.release([seq])
        assert journal.backlog_bytes == 0
        await journal.append(request(b"x" * 9_000))


async def test_every_change_arrives(tmp_path: Path) -> None:
    """Kept, forgotten, expired; positions; what is left of an entry; quarantine."""
    async with both(tmp_path) as (journal, consumer):
        seqs = [await journal.append(request(b"words")) for _ in range(3)]
        await consumer.keep_all([ClosedTrace(trace_id=TRACE, until_ns=7, blob=b"spans")])
        assert await consumer.kept(TRACE) == await journal.kept(TRACE) == b"spans"
        await consumer.advance("forwarded", 2)
        assert await consumer.position("forwarded") == 2
        assert await consumer.forget([TRACE], {seqs[0]: b"wo", seqs[1]: None}) == 0
        assert await consumer.kept(TRACE) == b""
        assert [entry.request.body async for entry in consumer.unreleased()] == [b"wo", b"words"]
        assert journal.backlog_bytes == len(b"wo" + b"words")
        assert await consumer.expire(8) == 1
        assert await consumer.closed_traces() == ()
        path = await consumer.quarantine(seqs[2], "broken")
        assert path is not None
        assert path.read_bytes() == b"words"
        assert journal.backlog_bytes == len(b"wo")


async def test_what_the_storage_refuses_is_raised_at_the_consumers(tmp_path: Path) -> None:
    """As the error that it is; the next change is made."""
    async with both(tmp_path) as (journal, consumer):
        seq = await journal.append(request())
        with closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
            connection.execute("CREATE TRIGGER t BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'no more'); END")
            connection.commit()
        with pytest.raises(JournalCorrupt, match="no more"):
            await consumer.release([seq])
        await consumer.advance("forwarded", 1)
        assert await consumer.position("forwarded") == 1


async def test_what_was_asked_for_is_made_though_nobody_waits(tmp_path: Path) -> None:
    """A consumer that is cancelled, and then gone: the changes that it had handed in are made before serving it ends."""
    async with both(tmp_path) as (journal, consumer):
        seqs = [await journal.append(request()) for _ in range(50)]
        asked = [asyncio.create_task(consumer.release([seq])) for seq in seqs]
        await asyncio.sleep(0)
        for task in asked:
            task.cancel()
        await asyncio.wait(asked)
    async with await Journal.open(tmp_path, clock=ManualClock()) as journal:
        assert journal.backlog_bytes == 0


async def test_a_journal_that_goes_away_ends_the_wait(tmp_path: Path) -> None:
    """Whoever asks for a change is told, rather than left waiting."""
    ours, theirs = pair()
    far = await Frames.over(theirs)
    async with (
        await Journal.open(tmp_path, clock=ManualClock()),
        await RemoteConsumer.attach(tmp_path, far) as consumer,
    ):
        asked = asyncio.create_task(consumer.release([1]))
        await asyncio.sleep(0)
        ours.close()
        with pytest.raises(JournalClosed):
            await asyncio.wait_for(asked, 10)
        with pytest.raises(JournalClosed):
            await consumer.release([1])


async def test_a_body_of_many_megabytes_goes_through(tmp_path: Path) -> None:
    """What is left of an entry may be as large as a request can be."""
    body = bytes(range(256)) * (64 << 10)
    async with both(tmp_path, max_bytes=1 << 30) as (journal, consumer):
        seq = await journal.append(request(body))
        await consumer.forget([], {seq: body[::-1]})
        assert [entry.request.body async for entry in consumer.unreleased()] == [body[::-1]]
