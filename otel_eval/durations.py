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
LONGEST_NS = 2**63 - 1
"""292 years: what the collector's notation can say, and what a database's integer holds."""


class TooLong(ValueError):
    """A duration, and more than 292 years of it."""


def parse_duration(text: str) -> float:
    """The duration in seconds. Raises ValueError for anything but numbers with their units: ``30`` says no unit."""
    return parse_duration_ns(text) / 1_000_000_000


def parse_duration_ns(text: str) -> int:
    """The duration in whole nanoseconds. Raises ValueError as :func:`parse_duration` does, TooLong for more than 292
    years."""
    compact = text.strip()
    if not _WHOLE.fullmatch(compact):
        raise ValueError(f"{_shown(text)} is not a duration: write it with its unit, as 250ms, 2s, 10m, 1h or 7d")
    nanoseconds = int(sum(Decimal(number) * _NANOSECONDS[unit] for number, unit in _PART.findall(compact)))
    if nanoseconds > LONGEST_NS:
        raise TooLong(f"{_shown(text)} is too long for a duration: the longest is 292 years (106751d)")
    return nanoseconds


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


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
