"""The journal: durable, in order, bounded, and let go."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from otel_eval.journal import ClosedTrace, Entry, Journal, JournalClosed, JournalFull, JournalUnwritable, Request
from otel_eval.journal.quarantine import Quarantine
from otel_eval.testing.clock import ManualClock

TRACE = "0af7651916cd43dd8448eb211c80319c"


def request(body: bytes = b"body") -> Request:
    return Request(signal="traces", encoding="protobuf", body=body)


def size_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir())


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with await Journal.open(tmp_path / "data", clock=ManualClock(), max_bytes=10_000) as opened:
        yield opened


async def read(journal: Journal, count: int, after: int = 0) -> list[Entry]:
    entries: list[Entry] = []
    async for entry in journal.entries(after):
        entries.append(entry)
        if len(entries) == count:
            break
    return entries


async def test_entries_come_out_as_they_went_in(journal: Journal) -> None:
    """Signal, encoding, bytes and time of arrival are kept, in order."""
    sent = [request(), Request(signal="logs", encoding="json", body=b'{"a":1}')]
    seqs = [await journal.append(each) for each in sent]
    entries = await read(journal, 2)
    assert [entry.request for entry in entries] == sent
    assert [entry.seq for entry in entries] == seqs == sorted(seqs)
    assert entries[0].received_ns == ManualClock().now_ns()


async def test_reading_starts_behind_a_position(journal: Journal) -> None:
    """``after`` leaves out what was read before."""
    first, second = [await journal.append(request()) for _ in range(2)]
    assert [entry.seq for entry in await read(journal, 1, after=first)] == [second]


async def test_a_reader_waits_for_what_arrives(journal: Journal) -> None:
    """A reader at the end of the journal is woken by the next append."""
    reader = asyncio.create_task(read(journal, 1))
    await asyncio.sleep(0)
    seq = await journal.append(request())
    assert [entry.seq for entry in await asyncio.wait_for(reader, 10)] == [seq]


async def test_closing_ends_readers_and_appends(tmp_path: Path) -> None:
    """A waiting reader ends without an error, an append raises."""
    journal = await Journal.open(tmp_path, clock=ManualClock())
    reader = asyncio.create_task(read(journal, 1))
    await asyncio.sleep(0)
    await journal.close()
    await journal.close()
    assert await asyncio.wait_for(reader, 10) == []
    with pytest.raises(JournalClosed):
        await journal.append(request())
    with pytest.raises(JournalClosed):
        await journal.kept(TRACE)


async def test_appends_that_wait_together_are_all_kept_once(journal: Journal) -> None:
    """Concurrent appends get sequence numbers of their own, each for its own bytes."""
    bodies = [f"request {number}".encode() for number in range(300)]
    seqs = await asyncio.gather(*(journal.append(request(body)) for body in bodies))
    entries = await read(journal, len(bodies))
    assert {entry.seq: entry.request.body for entry in entries} == dict(zip(seqs, bodies, strict=True))


async def test_appends_that_wait_together_share_a_transaction(journal: Journal, tmp_path: Path) -> None:
    """A hundred concurrent appends cost far fewer than a hundred pages in the write-ahead log."""
    log = tmp_path / "data" / "journal.db-wal"
    before = log.stat().st_size
    await asyncio.gather(*(journal.append(request(b"x" * 20)) for _ in range(100)))
    assert log.stat().st_size - before < 100 * 16384 // 2


async def test_entries_survive_a_restart_and_numbers_are_never_given_twice(tmp_path: Path) -> None:
    """What was not released is read again; what was released is gone, and its number with it."""
    async with await Journal.open(tmp_path, clock=ManualClock()) as journal:
        kept, gone = [await journal.append(request(body)) for body in (b"kept", b"gone")]
        await journal.release([gone])
    async with await Journal.open(tmp_path, clock=ManualClock()) as journal:
        assert [(entry.seq, entry.request.body) for entry in await read(journal, 1)] == [(kept, b"kept")]
        assert journal.backlog_bytes == len(b"kept")
        assert await journal.append(request()) > gone


async def test_the_limit_pushes_back_until_entries_are_released(journal: Journal) -> None:
    """Past ``max_bytes`` an append raises and keeps nothing; releasing makes room."""
    seq = await journal.append(request(b"x" * 9000))
    with pytest.raises(JournalFull):
        await journal.append(request(b"x" * 1001))
    assert journal.backlog_bytes == 9000
    await journal.release([seq, seq + 1000])
    assert journal.backlog_bytes == 0
    await journal.append(request(b"x" * 1001))


async def test_requests_in_flight_count_towards_the_limit(journal: Journal) -> None:
    """Appends that are not yet durable cannot together pass the limit."""
    results = await asyncio.gather(*(journal.append(request(b"x" * 4000)) for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(result, int) for result in results) == 2
    assert journal.backlog_bytes == 8000


async def test_an_empty_journal_takes_a_request_larger_than_its_limit(journal: Journal) -> None:
    """Otherwise its sender would be pushed back for ever."""
    await journal.append(request(b"x" * 20_000))
    assert journal.backlog_bytes == 20_000


async def test_a_cancelled_append_leaves_the_count_right(journal: Journal) -> None:
    """A sender that went away may have been stored: then its bytes are in the backlog."""
    task = asyncio.create_task(journal.append(request(b"x" * 100)))
    await asyncio.sleep(0)
    task.cancel()
    await journal.append(request(b"y" * 10))
    assert journal.backlog_bytes == sum(len(entry.request.body) for entry in await read(journal, 2)) == 110


async def test_closed_traces_are_kept_until_they_expire(tmp_path: Path) -> None:
    """Their blobs and ids survive a restart; the last keep counts; expiring forgets the old ones alone."""
    other = "b" * 32
    async with await Journal.open(tmp_path, clock=ManualClock()) as journal:
        await journal.keep(TRACE, b"first", 10)
        await journal.keep_all(
            [ClosedTrace(trace_id=TRACE, blob=b"second", until_ns=20), ClosedTrace(trace_id=other, until_ns=5)]
        )
    async with await Journal.open(tmp_path, clock=ManualClock()) as journal:
        assert {(trace.trace_id, trace.until_ns) for trace in await journal.closed_traces()} == {
            (TRACE, 20),
            (other, 5),
        }
        assert await journal.expire(20) == 1
        assert await journal.kept(TRACE) == b"second"
        assert await journal.kept(other) is None


async def test_an_entry_in_quarantine_is_a_file_and_no_entry(journal: Journal, tmp_path: Path) -> None:
    """Bytes and reason are readable by their owner alone; the journal has let go of it, and does not mind a second call."""
    seq = await journal.append(request(b"not OTLP"))
    path = await journal.quarantine(seq, "twice failed to decode")
    assert path is not None
    assert path.read_bytes() == b"not OTLP"
    assert path.with_name(path.name + ".reason").read_text() == "twice failed to decode\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert journal.backlog_bytes == 0
    assert await journal.quarantine(seq, "again") is None


async def test_what_is_forgotten_is_nowhere(journal: Journal, tmp_path: Path) -> None:
    """The kept blob and the files in quarantine go, in bytes or hex; that the trace is closed stays known."""
    other = "b" * 32
    for body in (bytes.fromhex(TRACE), TRACE.upper().encode(), bytes.fromhex(other)):
        await journal.quarantine(await journal.append(request(b"broken " + body)), "broken")
    await journal.keep_all([ClosedTrace(trace_id=each, until_ns=10, blob=b"spans") for each in (TRACE, other)])
    assert await journal.forget([TRACE]) == 2
    assert (await journal.kept(TRACE), await journal.kept(other)) == (b"", b"spans")
    assert len(list((tmp_path / "data" / "quarantine").iterdir())) == 2  # the other's request and its reason


def test_quarantine_is_bounded(tmp_path: Path) -> None:
    """A sender that is always broken cannot fill the disk: the oldest go."""
    quarantine = Quarantine(tmp_path / "quarantine", max_files=3)
    paths = [quarantine.put(Entry(seq=seq, request=request(), received_ns=0), "broken") for seq in range(8, 13)]
    assert sorted((tmp_path / "quarantine").glob("*.pb")) == paths[-3:]


async def test_what_the_disk_refuses_is_an_error_and_not_kept(journal: Journal, tmp_path: Path) -> None:
    """A file that cannot grow makes appends fail with a clear error; once it can, the journal goes on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    first = await journal.append(request(b"before"))
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "data" / "journal.db-wal").stat().st_size, hard))
    try:
        with pytest.raises(JournalUnwritable):
            await journal.append(request(b"x" * 9000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert journal.backlog_bytes == len(b"before")
    second = await journal.append(request(b"after"))
    assert [entry.seq for entry in await read(journal, 2)] == [first, second]


async def test_the_disk_gets_its_space_back_after_a_flood(tmp_path: Path) -> None:
    """Once everything is released the file shrinks to about its slack."""
    async with await Journal.open(tmp_path, clock=ManualClock(), slack_bytes=1 << 20) as journal:
        seqs = await asyncio.gather(*(journal.append(request(os.urandom(400_000))) for _ in range(20)))
        await journal.release(seqs)
        assert size_of(tmp_path) > 8_000_000
        for _ in range(10):  # the file shrinks by a step at least after each transaction
            await journal.expire(0)
        assert size_of(tmp_path) < 1 << 20


async def test_everything_is_the_owners_alone(tmp_path: Path) -> None:
    """The directory is 0700, its files 0600."""
    async with await Journal.open(tmp_path / "deep" / "data", clock=ManualClock()) as journal:
        await journal.append(request())
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "deep" / "data").iterdir()}
    assert (tmp_path / "deep" / "data").stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600}, modes
