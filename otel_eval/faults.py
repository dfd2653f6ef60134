"""What was raised, in words: by code of a user's, whose exceptions may break as well when they are asked what they say."""

from __future__ import annotations

import os
import sysconfig
import traceback
from pathlib import Path

_OURS = f"{Path(__file__).parent}{os.sep}"
_PATHS = sysconfig.get_paths()
_STANDARD = tuple(f"{_PATHS[name]}{os.sep}" for name in ("stdlib", "platstdlib"))
_INSTALLED = tuple(f"{_PATHS[name]}{os.sep}" for name in ("purelib", "platlib"))
LONGEST = 2000
"""Characters of what is raised that are told: an exception may carry a whole answer."""


def text_of(error: BaseException) -> str:
    """What it says, of a long text the beginning. Never raises."""
    try:
        said = str(error)
    except (Exception, SystemExit):  # noqa: BLE001 - an exception whose own text raises
        return "(its message could not be read)"
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}… ({len(said)} characters)"


def told(error: BaseException) -> str:
    """Its class, what it says and where: ``ValueError: no such order (policies.py:14)``. Never raises.

    The class alone where it says nothing; no place where none of it passed through a user's file.
    """
    name, text, place = type(error).__name__, text_of(error), _place(error)
    said = f"{name}: {text}" if text.strip() else name
    return said if place is None else f"{said} ({place})"


def _place(error: BaseException) -> str | None:
    """The line of the user's own file that it came from, also where a library that this line calls raised it.

    The user's file is the first that is neither ours nor Python's own. Its name alone: a report is read on other machines.
    """
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    file = next((name for name, _ in lines if not _is_ours(name)), None)
    if file is None:
        return None
    return f"{Path(file).name}:{[line for name, line in lines if name == file][-1]}"


def _is_ours(file: str) -> bool:
    return file.startswith((_OURS, "<")) or (file.startswith(_STANDARD) and not file.startswith(_INSTALLED))
