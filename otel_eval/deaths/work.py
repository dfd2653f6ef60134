"""What can be under way when the process dies, as a short text that notes and counts know it by."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What is done one at a time, and can be left out without the others."""

    EVALUATION = "evaluation"
    REQUEST = "request"
    """An entry of the journal is read."""
    TRACE = "trace"
    """A trace is put together."""


def work(kind: Kind, name: str) -> str:
    """``evaluation:<evaluation id>``, ``request:<sequence number>``, ``trace:<trace id>``."""
    return kind + ":" + name


def kind_of(text: str) -> Kind:
    """Which kind such a text is of."""
    return Kind(text.partition(":")[0])


def is_work(text: str) -> bool:
    """Whether that is one, rather than what a torn page left."""
    kind, _, name = text.partition(":")
    return kind in _KINDS and name.isalnum() and name.isascii()


_KINDS = frozenset(kind.value for kind in Kind)
