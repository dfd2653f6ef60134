"""The storage directory: private to whoever runs the server."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

log = logging.getLogger("otel_eval.storage")

KEY_FILE = "loop-guard.key"
_OURS = ("journal.db", "ledger.db", KEY_FILE, "lock")
"""One of these makes a directory ours."""


class StorageError(Exception):
    """The directory cannot be used; the message can be shown as it is."""


def prepare(directory: Path) -> None:
    """Make the directory, mode 0700, where there is none. Raises :class:`StorageError`.

    One that others may enter is closed to them where it is ours, or empty: it was made by hand, or by an older umask, and
    conversations are kept in it. With other files in it, closing it could shut out whom they belong to, and leaving it
    open would show when somebody talks to an agent: that is refused. One that belongs to another user (a volume that was
    mounted for us) is not ours to change: it is used as it is, since every file that we make is private (0600).
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = directory.stat()
        if not _open_to_others(found):
            return
        mode = _mode(found)
        if found.st_uid != os.geteuid():
            log.warning(
                "storage.directory %s belongs to another user and others may enter it (mode %s): its files are private, "
                "their names and sizes are not",
                directory,
                mode,
            )
            return
        reason = _shared_with_others(directory, found)
        if reason is not None:
            raise StorageError(f"storage.directory {directory} {reason}")
        directory.chmod(0o700)
    except OSError as error:
        raise StorageError(f"storage.directory {directory} cannot be used: {error}") from error
    log.warning("storage.directory %s was open to others (mode %s) and is closed to them now (0700)", directory, mode)


def unusable(directory: Path) -> str | None:
    """Why :func:`prepare` would refuse the absolute path, as far as can be told without making anything; else None."""
    there = next(each for each in (directory, *directory.parents) if os.path.lexists(each))
    if not os.path.isdir(there):
        return f"{there} is there, and is no directory"
    if not os.access(there, os.W_OK | os.X_OK):
        made = "" if there == directory else f", so {directory} cannot be made"
        return f"{there} cannot be written to{made}"
    try:
        longest = os.pathconf(there, "PC_NAME_MAX")
        if any(len(os.fsencode(part)) > longest for part in directory.relative_to(there).parts):
            return f"a name in it is longer than the {longest} bytes that {there} takes"
        found = directory.stat() if there == directory else None
        reason = None if found is None or not _open_to_others(found) else _shared_with_others(directory, found)
    except OSError as error:
        return str(error)
    return None if reason is None else f"{there} {reason}"


def _open_to_others(found: os.stat_result) -> bool:
    return bool(stat.S_IMODE(found.st_mode) & 0o077)


def _mode(found: os.stat_result) -> str:
    return f"{stat.S_IMODE(found.st_mode):04o}"


def _shared_with_others(directory: Path, found: os.stat_result) -> str | None:
    """Why a directory of this user that others may enter is not ours to close; None where it is."""
    if found.st_uid != os.geteuid():
        return None
    inside = os.listdir(directory)
    if not inside or any(name in inside for name in _OURS):
        return None
    return (
        f"holds other files and others may enter it (mode {_mode(found)}): give otel-eval a directory of its own, or close "
        f"this one with chmod 700"
    )
