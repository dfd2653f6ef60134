"""Durations as people write them in the configuration and on the command line: ``250ms``, ``2s``, ``10m``, ``1h30m``.

Exact underneath: nanoseconds are integers, never floats. Source of the notation: the collector's, which is Go's
``time.ParseDuration``, with days.
"""

from __future__ import annotations

import re
from decimal import Decimal

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|ms|s|m|h|d)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(text: str) -> float:
    """The duration in seconds. Raises ValueError for anything but numbers with their units: ``30`` says no unit."""
    return parse_duration_ns(text) / 1_000_000_000


def parse_duration_ns(text: str) -> int:
    """The duration in whole nanoseconds. Raises ValueError as :func:`parse_duration` does."""
    compact = text.strip()
    if not _WHOLE.fullmatch(compact):
        raise ValueError(f"{text!r} is not a duration: write it with its unit, as 250ms, 2s, 10m, 1h or 7d")
    return int(sum(Decimal(number) * _NANOSECONDS[unit] for number, unit in _PART.findall(compact)))


def format_duration(seconds: float) -> str:
    """The shortest way to write it that :func:`parse_duration` reads back, to the millisecond: ``2s``, ``1h30m``, ``0s``."""
    return format_duration_ns(round(seconds * 1000) * 1_000_000)


def format_duration_ns(nanoseconds: int) -> str:
    """The way to write it that :func:`parse_duration_ns` reads back exactly: ``2s``, ``1s500ms``, ``0s``."""
    parts = []
    rest = nanoseconds
    for unit in reversed(_NANOSECONDS):
        count, rest = divmod(rest, _NANOSECONDS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
