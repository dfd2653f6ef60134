"""Where requests go that cannot be decoded: out of the journal, into files that a person can look at."""

from __future__ import annotations

import os
from pathlib import Path

from otel_eval.journal.entry import Entry

_SUFFIX = {"protobuf": "pb", "json": "json"}


class Quarantine:
    """A folder (0700) of refused requests, ``<seq>-<signal>.pb`` or ``.json``, each with its ``.reason`` beside it.

    Bounded: past ``max_files`` requests the oldest go, so that a broken sender cannot fill the disk.
    """

    def __init__(self, directory: Path, *, max_files: int = 1000) -> None:
        self._directory = directory
        self._max_files = max_files

    def put(self, entry: Entry, reason: str) -> Path:
        """Write it durably, over an earlier attempt of the same entry. Raises OSError."""
        self._directory.mkdir(mode=0o700, exist_ok=True)
        name = f"{entry.seq:012d}-{entry.request.signal}.{_SUFFIX[entry.request.encoding]}"
        path = self._directory / name
        _write(path.with_name(name + ".reason"), f"{reason}\n".encode(errors="replace"))
        _write(path, entry.request.body)
        _sync(self._directory)
        self._prune()
        return path

    def _prune(self) -> None:
        reasons = sorted(self._directory.glob("*.reason"))
        for reason in reasons[: -self._max_files]:
            reason.with_suffix("").unlink(missing_ok=True)
            reason.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
