"""What is under way at this moment, in a file that is mapped into memory: the kernel keeps it however the process ends.

Noting costs some hundred nanoseconds, and no system call, so that the interpreter's lock stays where it is. Nothing is
synchronised with the disk: a machine that loses power did not die of an evaluation. A disk that is full, or goes away, does
to a mapped file what it does to the shared memory of SQLite's write-ahead log, which lies beside it.
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import struct
from pathlib import Path

from otel_eval.crashes.work import is_work

log = logging.getLogger("otel_eval.crashes")

FILE = "under-way"
NO_SLOT = -1

_SLOT = struct.Struct("B63s")
"""The length of a text (0: nothing is under way here) and the text."""
_LONGEST = _SLOT.size - 1


class Notes:
    """For one process at a time, and one thread of it. Made by :meth:`begin`."""

    def __init__(self, memory: mmap.mmap) -> None:
        """Use :meth:`begin`."""
        self._memory = memory
        self._free = list(range(len(memory) // _SLOT.size - 1, -1, -1))

    @classmethod
    def begin(cls, directory: Path, slots: int) -> Notes:
        """Empty notes in that directory, with room for so much at the same time. What was in there is to be read before.

        Where they cannot be kept there they are kept in memory, which is logged: nothing is learned from a death then.
        """
        size = _SLOT.size * slots
        try:
            return cls(_mapped(directory / FILE, size))
        except OSError as error:
            log.warning("what is under way cannot be noted in %s, deaths are not looked into: %s", directory, error)
            return cls(mmap.mmap(-1, size))

    def put(self, text: str) -> int:
        """Note that it is under way; the slot, to :meth:`take_back`. NO_SLOT where there is no room: then it is not noted."""
        if not self._free:
            return NO_SLOT
        slot = self._free.pop()
        encoded = text.encode()
        _SLOT.pack_into(self._memory, slot * _SLOT.size, min(len(encoded), _LONGEST), encoded)
        return slot

    def take_back(self, slot: int) -> None:
        """It is not under way any more."""
        if slot != NO_SLOT:
            self._memory[slot * _SLOT.size] = 0
            self._free.append(slot)

    def close(self) -> None:
        """Let go. What is still noted stays."""
        self._memory.close()


def left(directory: Path) -> tuple[str, ...]:
    """What was under way when the last process ended; nothing where it ended in good order, or where that cannot be told."""
    try:
        content = (directory / FILE).read_bytes()
    except OSError:
        return ()
    whole = len(content) // _SLOT.size * _SLOT.size
    texts = [bytes(text[:length]) for length, text in _SLOT.iter_unpack(content[:whole]) if 0 < length <= _LONGEST]
    found = [text.decode("ascii", "replace") for text in texts]
    return tuple(dict.fromkeys(text for text in found if is_work(text)))


def wipe(directory: Path) -> None:
    """Nothing is left."""
    with contextlib.suppress(OSError):
        (directory / FILE).unlink()


def _mapped(path: Path, size: int) -> mmap.mmap:
    # A new file in the place of the old one, which another process may still have mapped; written, not stretched: what is
    # touched in a mapped file without room on the disk kills the process.
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        if file.write(bytes(size)) != size:
            raise OSError("no room on the disk")
        memory = mmap.mmap(file.fileno(), size)
        part.replace(path)
        return memory
