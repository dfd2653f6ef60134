"""How numbers and moments read in a sentence."""

from __future__ import annotations

import datetime


def number_of(number: int, noun: str) -> str:
    """``3 cases``, ``1 case``, ``0 cases``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def moment(time_ns: int) -> str:
    """Nanoseconds since the epoch as ``2026-12-01 09:30:00Z``, to the second; what no calendar holds stays a number."""
    try:
        found = datetime.datetime.fromtimestamp(time_ns // 1_000_000_000, datetime.UTC)
    except (OSError, OverflowError, ValueError):
        return str(time_ns)
    return found.strftime("%Y-%m-%d %H:%M:%SZ")
