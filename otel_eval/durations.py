"""Durations as people write them in the configuration and on the command line: ``250ms``, ``2s``, ``10m``, ``1h30m``."""

from __future__ import annotations

import re

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(text: str) -> float:
    """The duration in seconds. Raises ValueError for anything but numbers with their units: ``30`` says no unit."""
    compact = text.strip()
    if not _WHOLE.fullmatch(compact):
        raise ValueError(f"{text!r} is not a duration: write it with its unit, as 250ms, 2s, 10m, 1h or 7d")
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(compact))


def format_duration(seconds: float) -> str:
    """The shortest way to write it that :func:`parse_duration` reads back: ``2s``, ``1h30m``, ``0s``."""
    milliseconds = round(seconds * 1000)
    parts = []
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, milliseconds = divmod(milliseconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
