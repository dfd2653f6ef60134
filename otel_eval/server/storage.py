"""The storage directory: private to whoever runs the server, and the key in it that our own telemetry is known by."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

from otel_eval.config import Config
from otel_eval.loop_guard import LoopGuard
from otel_eval.server.errors import ServerError

log = logging.getLogger("otel_eval.server")

KEY_FILE = "loop-guard.key"
_OURS = ("journal.db", "ledger.db", KEY_FILE, "lock")
"""One of these makes a directory ours."""


class StorageError(Exception):
    """The directory cannot be used; the message can be shown as it is."""


def storage_of(config: Config) -> Path:
    """The storage directory, made ours. Raises ServerError."""
    try:
        return prepare(config.storage_directory)
    except StorageError as error:
        raise ServerError(str(error)) from error


def prepare(directory: Path) -> Path:
    """The directory itself; made with mode 0700 where there is none. Raises :class:`StorageError`.

    One that others may enter is closed to them where it is ours, or empty: it was made by hand, or by an older umask, and
    conversations are kept in it. With other files in it, closing it could shut out whom they belong to, and leaving it
    open would show when somebody talks to an agent: that is refused. One that belongs to another user (a volume that was
    mounted for us) is not ours to change: it is used as it is, since every file that we make is private (0600).
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = directory.stat()
        if stat.S_IMODE(found.st_mode) & 0o077:
            _close(directory, found)
    except OSError as error:
        raise StorageError(f"storage.directory {directory} cannot be used: {error}") from error
    return directory


def loop_guard(directory: Path, key: str | None) -> LoopGuard:
    """By the key of the configuration, else by the one kept in the directory. Raises :class:`StorageError`."""
    try:
        return LoopGuard.from_file(directory / KEY_FILE) if key is None else LoopGuard.from_text(key)
    except (OSError, ValueError) as error:
        raise StorageError(f"the loop guard's key cannot be used ({directory / KEY_FILE}): {error}") from error


def _close(directory: Path, found: os.stat_result) -> None:
    mode = f"{stat.S_IMODE(found.st_mode):04o}"
    if found.st_uid != os.geteuid():
        log.warning(
            "storage.directory %s belongs to another user and others may enter it (mode %s): its files are private, "
            "their names and sizes are not",
            directory,
            mode,
        )
        return
    inside = os.listdir(directory)
    if inside and not any(name in inside for name in _OURS):
        raise StorageError(
            f"storage.directory {directory} holds other files and others may enter it (mode {mode}): give otel-eval a "
            f"directory of its own, or close this one with chmod 700"
        )
    directory.chmod(0o700)
    log.warning("storage.directory %s was open to others (mode %s) and is closed to them now (0700)", directory, mode)
