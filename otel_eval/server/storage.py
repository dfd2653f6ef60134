"""What a server finds in its storage directory before it starts: the directory itself, and the key of our own telemetry."""

from __future__ import annotations

from pathlib import Path

from otel_eval.config import Config
from otel_eval.config.build import known_loop_guard
from otel_eval.loop_guard import LoopGuard
from otel_eval.server.errors import ServerError
from otel_eval.storage_directory import KEY_FILE, StorageError, prepare


def storage_of(config: Config) -> Path:
    """The storage directory, made ours. Raises ServerError."""
    try:
        prepare(config.storage_directory)
    except StorageError as error:
        raise ServerError(str(error)) from error
    return config.storage_directory


def loop_guard(config: Config, directory: Path) -> LoopGuard:
    """By the key of the configuration, else by the one kept in the directory, which is made now if need be.

    Raises ServerError.
    """
    try:
        return known_loop_guard(config) or LoopGuard.from_file(directory / KEY_FILE)
    except (OSError, ValueError) as error:
        raise ServerError(f"the loop guard's key cannot be used ({directory / KEY_FILE}): {error}") from error
