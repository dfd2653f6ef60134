"""Texts as a terminal may be shown them."""

from __future__ import annotations

_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """The text with control characters written out, so that evidence cannot steer the terminal that it is printed on."""
    return text.encode("utf-8", "replace").decode().translate(_VISIBLE)
