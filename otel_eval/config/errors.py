"""What is wrong with a configuration, said so that it can be put right: where, what was found, what is allowed.

ConfigError
    .mistakes: every Mistake of the file, in the order of its lines
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = "tuple[str | int, ...]"

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One thing to put right. ``line`` counts from 1 and is None where the configuration did not come from a file."""

    path: Path
    message: str
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"{self.file or 'config'}:{self.line}: "
        key = dotted(self.path)
        return f"{place}{key}: {self.message}" if key else f"{place}{self.message}"


class ConfigError(Exception):
    """The configuration cannot be used. Carries every mistake that was found, not only the first."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: (mistake.line or 0, dotted(mistake.path))))
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


def dotted(path: Path) -> str:
    """The path as people write it: ``evaluators.polite.agents."support-*".sampling_ratio``, ``agents[0]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        key = part if _PLAIN_KEY.fullmatch(part) else f'"{_printable(part)}"'
        text += f".{key}" if text else key
    return text


def _printable(text: str) -> str:
    """What a terminal would obey, or UTF-8 cannot say, as Python writes it."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
