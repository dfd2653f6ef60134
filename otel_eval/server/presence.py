"""Files that are open under their names: who removes one under a running server finds nothing of what goes on in it.

The kernel keeps an open file without a name, so that writing to it succeeds, and loses it when it is closed. Hence the
server looks now and then, and before it says that it stopped well.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import TypeAlias

from otel_eval.clock import Clock
from otel_eval.server.stages import StageDied, Stages

LOOK_EVERY_S = 3.0
LOSS = "what was in there is lost: put a backup in its place, or start from nothing"
"""In the message where data went with the file, and nowhere else: it comes from another process as text alone."""

LOG, INDEX = "-wal", "-shm"
"""What SQLite keeps beside a file while it is open: what was committed and is not in the file yet, and where it is
in there."""

Identity: TypeAlias = "tuple[int, int]"
"""Device and inode: what a file is, whatever its name."""


class Presence:
    """The files that these names stand for when this is made: they are to be open by then, and to stay open."""

    def __init__(self, databases: Iterable[Path], *, beside: Iterable[Path] = ()) -> None:
        """Losing one of ``databases``, or its write-ahead log, loses what was accepted; losing one of ``beside`` does not."""
        files = tuple(databases)
        self._data = _found(files)
        self._logs = _found(Path(f"{file}{LOG}") for file in files)
        self._beside = _found([*(Path(f"{file}{INDEX}") for file in files), *beside])

    def check(self) -> None:
        """Raises StageDied where a name is gone, or stands for another file now."""
        lost = _gone(self._data)
        told_of = {f"{file}{suffix}" for file in lost for suffix in (LOG, INDEX)}
        lost += [log for log in _gone(self._logs) if str(log) not in told_of]
        others = [file for file in _gone(self._beside) if str(file) not in told_of]
        if lost or others:
            names = ", ".join(map(str, lost + others))
            told = f"removed or replaced while the server ran: {names}"
            raise StageDied(f"{told}; {LOSS}" if lost else told)


@contextlib.asynccontextmanager
async def kept_in_place(presence: Presence, *, stages: Stages, clock: Clock) -> AsyncIterator[None]:
    """Look every few seconds, and at the end of the block if nothing else ended it. Raises StageDied."""
    async with stages.running("the storage", _look(presence, clock)):
        yield
    await asyncio.to_thread(presence.check)


async def _look(presence: Presence, clock: Clock) -> None:
    while True:
        await clock.sleep_until(clock.monotonic() + LOOK_EVERY_S)
        await asyncio.to_thread(presence.check)


def _found(paths: Iterable[Path]) -> dict[Path, Identity]:
    files = ((path.absolute(), _identity(path)) for path in paths)
    return {path: identity for path, identity in files if identity is not None}


def _gone(files: dict[Path, Identity]) -> list[Path]:
    gone = []
    for path, identity in files.items():
        try:
            if _identity(path) != identity:
                gone.append(path)
        except OSError:
            continue  # it cannot be told: a volume that does not answer, a directory that was closed to us
    return gone


def _identity(path: Path) -> Identity | None:
    """None where there is no such file. Raises OSError where that cannot be told."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
