"""Opening a journal: who may, and what is said where it cannot be."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from otel_eval.journal import (
    Journal,
    JournalCorrupt,
    JournalLocked,
    JournalTooNew,
    JournalUnusable,
    Request,
    schema,
)
from otel_eval.testing.clock import ManualClock

HOLD = """
import asyncio, sys
from pathlib import Path
from otel_eval.clock import SystemClock
from otel_eval.journal import Journal

async def main():
    async with await Journal.open(Path(sys.argv[1]), clock=SystemClock()):
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


async def opened(directory: Path) -> Journal:
    return await Journal.open(directory, clock=ManualClock())


async def test_a_second_process_is_told_who_holds_it(tmp_path: Path) -> None:
    """The error carries the holder's pid; once the holder is killed the directory is free."""
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, str(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"open\n"
    with pytest.raises(JournalLocked, match=f"process {holder.pid}") as error:
        await opened(tmp_path)
    assert error.value.pid == holder.pid
    holder.kill()
    await holder.wait()
    async with await opened(tmp_path):
        pass


async def test_one_process_cannot_open_it_twice(tmp_path: Path) -> None:
    """The lock holds against its own process too, and is let go on closing."""
    async with await opened(tmp_path):
        with pytest.raises(JournalLocked, match=f"process {os.getpid()}"):
            await opened(tmp_path)
    async with await opened(tmp_path):
        pass


async def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    """The error names both formats, and the file is not touched."""
    async with await opened(tmp_path):
        pass
    path = tmp_path / "journal.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.FORMAT + 1}")
    with pytest.raises(JournalTooNew, match=f"format {schema.FORMAT + 1}.* up to {schema.FORMAT}"):
        await opened(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.FORMAT + 1,)


async def test_an_older_format_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later release's steps are applied to what an earlier one wrote, and its entries stay."""
    async with await opened(tmp_path) as journal:
        await journal.append(Request(signal="logs", encoding="json", body=b"{}"))
    later = (*schema.MIGRATIONS, ("ALTER TABLE closed_traces ADD COLUMN note TEXT",))
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    monkeypatch.setattr(schema, "FORMAT", len(later))
    async with await opened(tmp_path) as journal:
        assert journal.backlog_bytes == 2
    with closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(later),)
        assert connection.execute("SELECT count(note) FROM closed_traces").fetchone() == (0,)


async def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """Truncated or overwritten: a clear error with the path, and the lock is let go."""
    async with await opened(tmp_path) as journal:
        for _ in range(20):
            await journal.append(Request(signal="traces", encoding="protobuf", body=b"x" * 50_000))
    path = tmp_path / "journal.db"
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"not a database" * 5000, whole[:16384] + bytes(len(whole) - 16384)):
        path.write_bytes(damaged)
        for _ in range(2):
            with pytest.raises(JournalCorrupt, match=r"journal\.db is damaged"):
                await opened(tmp_path)


async def test_a_strangers_database_is_left_alone(tmp_path: Path) -> None:
    """A SQLite file that is no journal is never written to."""
    with closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    before = (tmp_path / "journal.db").read_bytes()
    with pytest.raises(JournalCorrupt, match="not a journal"):
        await opened(tmp_path)
    assert (tmp_path / "journal.db").read_bytes() == before


async def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file where the directory should be, for instance."""
    (tmp_path / "data").write_text("a file")
    with pytest.raises(JournalUnusable, match="data"):
        await opened(tmp_path / "data")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_read_only_directory_is_named(tmp_path: Path) -> None:
    """The error says which directory cannot be written."""
    os.chmod(tmp_path, 0o500)
    with pytest.raises(JournalUnusable, match="cannot write"):
        await opened(tmp_path)
