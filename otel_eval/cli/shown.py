"""Texts as a terminal may be shown them."""

from __future__ import annotations

_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_VISIBLE |= {code: f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))}
"""Also what turns the direction of writing round, and separators that end a line. Source: Unicode 15, bidirectional controls."""


def printable(text: str) -> str:
    """The text with control characters written out, so that evidence cannot steer the terminal that it is printed on."""
    return text.encode("utf-8", "replace").decode().translate(_VISIBLE)
