"""Where requests go that cannot be decoded: out of the journal, into files that a person can look at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from otel_eval import private_files
from otel_eval.journal.entry import Entry

FOLDER = "quarantine"

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
        private_files.put(path, entry.request.body, durable=True)  # first: whoever finds a reason finds the request
        private_files.put(path.with_name(name + ".reason"), f"{reason}\n".encode(errors="replace"), durable=True)
        _sync(self._directory)
        self._prune()
        return path

    def forget(self, trace_ids: Sequence[str], values: Sequence[bytes] = ()) -> int:
        """Delete the requests in which one of these trace ids stands, raw or in hex, or one of these values; how many."""
        needles = [needle for trace_id in trace_ids for needle in (bytes.fromhex(trace_id), trace_id.lower().encode())]
        gone = 0
        for reason in self._reasons():
            content = reason.with_suffix("").read_bytes()
            named = any(needle in content or needle in content.lower() for needle in needles)
            if named or any(value in content for value in values):
                _remove(reason)
                gone += 1
        return gone

    def forget_before(self, before_ns: int) -> int:
        """Delete the requests that were put here before that time; how many they were."""
        old = [reason for reason in self._reasons() if reason.stat().st_mtime_ns < before_ns]
        for reason in old:
            _remove(reason)
        return len(old)

    def _prune(self) -> None:
        for reason in self._reasons()[: -self._max_files]:
            _remove(reason)

    def _reasons(self) -> list[Path]:
        """One file for each request, oldest first."""
        return sorted(self._directory.glob("*.reason"))


def _remove(reason: Path) -> None:
    reason.with_suffix("").unlink(missing_ok=True)
    reason.unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
