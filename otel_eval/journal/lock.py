"""One process holds a directory: two that read one journal would judge everything twice."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from otel_eval.journal.errors import JournalLocked, JournalUnusable

FILE = "lock"


class DirectoryLock:
    """An advisory lock on ``<directory>/lock``. The kernel lets go of it when the process ends, however it ends."""

    def __init__(self, directory: Path) -> None:
        """Take the lock. Raises :class:`JournalLocked` where another holder has it, this process included."""
        path = directory / FILE
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise JournalUnusable(f"cannot write in {directory}: {error.strerror}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            pid = _holder(self._descriptor)
            os.close(self._descriptor)
            holder = "another process" if pid is None else f"process {pid}"
            raise JournalLocked(f"{directory} is in use by {holder}: one process holds a journal", pid) from error
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let go. The file stays: removing it would let two processes lock two files of one name."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def _holder(descriptor: int) -> int | None:
    try:
        return int(os.pread(descriptor, 32, 0))
    except ValueError:
        return None
