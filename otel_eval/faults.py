"""What was raised, in words: by code of a user's, whose exceptions may break as well when they are asked what they say."""

from __future__ import annotations


def text_of(error: BaseException) -> str:
    """What it says. Never raises."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception whose own text raises
        return "(its message could not be read)"


def told(error: BaseException) -> str:
    """Its class and what it says: ``ValueError: no such order``; the class alone where it says nothing. Never raises."""
    name, text = type(error).__name__, text_of(error)
    return f"{name}: {text}" if text.strip() else name
