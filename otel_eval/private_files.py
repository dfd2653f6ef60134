"""Files that nobody but their owner may read, and that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def put(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write the file (0600) in place of what is there. ``durable``: its content is on disk, its name once its directory is.

    Whoever opens the path, at any moment, finds the old content or the new. Raises OSError.
    """
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    part.replace(path)
