"""Files that are removed under a running server: it does not go on taking in what nobody will find."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from otel_eval.server.presence import LOSS, Presence
from otel_eval.server.stages import StageDied
from tests.server.process import serving
from tests.server.test_crash import ended, flood, write_config


def _remove(*patterns: str) -> Callable[[Path], None]:
    def remove(data: Path) -> None:
        for pattern in patterns:
            for path in data.glob(pattern):
                path.unlink()

    return remove


def _restore_a_copy(data: Path) -> None:
    shutil.copy(data / "ledger.db", data / "copy")
    (data / "copy").replace(data / "ledger.db")


REMOVALS = {
    "ledger": (_remove("ledger.db*"), ["ledger.db"]),
    "journal": (_remove("journal.db*"), ["journal.db"]),
    "both": (_remove("*.db"), ["journal.db", "ledger.db"]),
    "all": (shutil.rmtree, ["journal.db", "ledger.db", "lock"]),
    "log of the ledger": (_remove("ledger.db-wal"), ["ledger.db-wal"]),
    "another": (_restore_a_copy, ["ledger.db"]),
}


@pytest.mark.parametrize(
    ("removal", "processes", "stops_first"),
    [
        *((name, 2, True) for name in REMOVALS),
        ("ledger", 2, False),
        ("all", 2, False),
        ("all", 1, False),
        ("journal", 1, True),
    ],
)
async def test_removed_files_stop_the_server(tmp_path: Path, removal: str, processes: int, stops_first: bool) -> None:
    """By itself within seconds, or told to: status 1, which files, no word of what is kept, and no traceback."""
    remove, names = REMOVALS[removal]
    data = tmp_path / "data"
    acknowledged: set[str] = set()
    async with serving(write_config(tmp_path, server={"processes": processes}), errors=True) as server:
        await flood(server, 20, acknowledged, asyncio.Event(), 20)
        await ended(data / "ledger.db", acknowledged, evaluators=2)
        remove(data)
        if stops_first:
            server.process.terminate()
        assert await asyncio.wait_for(server.process.wait(), 60) == 1
        said = await server.errors()
    files = ", ".join(str(data / name) for name in names)
    assert said.splitlines()[-1] == f"otel-eval: removed or replaced while the server ran: {files}; {LOSS}"
    assert "kept" not in said
    assert "Traceback" not in said


async def test_a_lock_that_is_removed_loses_nothing(tmp_path: Path) -> None:
    """Another server could start beside this one: it stops, and what was accepted is there."""
    async with serving(write_config(tmp_path), errors=True) as server:
        (tmp_path / "data" / "lock").unlink()
        assert await asyncio.wait_for(server.process.wait(), 60) == 1
        said = await server.errors()
    assert said == (
        f"otel-eval: removed or replaced while the server ran: {tmp_path}/data/lock; "
        "what was accepted is kept, start it again\n"
    )


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        (["file-shm"], r"file-shm$"),
        (["file-wal"], rf"ran: \S+file-wal; {LOSS}"),
        (["file-wal", "file-shm"], rf"ran: \S+file-wal, \S+file-shm; {LOSS}"),
        (["file", "file-wal", "file-shm", "lock"], rf"ran: \S+/file, \S+/lock; {LOSS}"),
    ],
)
def test_what_lies_beside_a_database_goes_with_it(tmp_path: Path, gone: list[str], told: str) -> None:
    """It is named where it went alone; the index alone loses nothing, and two that use different ones would damage
    the file."""
    for name in ("file", "file-wal", "file-shm", "lock"):
        (tmp_path / name).touch()
    presence = Presence([tmp_path / "file"], beside=[tmp_path / "lock"])
    for name in gone:
        (tmp_path / name).unlink()
    with pytest.raises(StageDied, match=told):
        presence.check()


def test_what_cannot_be_told_is_no_removal(tmp_path: Path) -> None:
    """A name that leads nowhere at the start is not missed, and one that cannot be looked up may still be there."""
    there = tmp_path / "there"
    there.mkdir()
    (there / "file").touch()
    presence = Presence([there / "file", tmp_path / "never"])
    presence.check()
    there.rename(tmp_path / "elsewhere")
    there.symlink_to(there)  # ELOOP
    presence.check()
    there.unlink()
    with pytest.raises(StageDied, match="there/file"):
        presence.check()
