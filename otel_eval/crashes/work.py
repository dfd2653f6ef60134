"""What can be under way when the process dies, as a short text that notes and counts know it by."""

from __future__ import annotations

import functools
from enum import StrEnum

from otel_eval.identity import digest


class Kind(StrEnum):
    """What is done one at a time, and can be left out without the others."""

    EVALUATION = "evaluation"
    REQUEST = "request"
    """An entry of the journal is read."""
    TRACE = "trace"
    """A trace is put together."""


def work(kind: Kind, name: str, owner: str = "") -> str:
    """``evaluation:<evaluation id>-<owner>``, ``request:<sequence number>``, ``trace:<trace id>``."""
    return kind + ":" + name + ("-" + owner if owner else "")


@functools.lru_cache(maxsize=1000)
def owner_of(evaluator: str, version: str) -> str:
    """What evaluations of that version of an evaluator have in common, in 12 hex digits."""
    return digest(evaluator, version)[:12]


def owner(text: str) -> str:
    """The owner in the text of a piece of work, as :func:`owner_of` makes it; empty where it has none."""
    return text.partition("-")[2]


def kind_of(text: str) -> Kind:
    """Which kind such a text is of."""
    return Kind(text.partition(":")[0])


def is_work(text: str) -> bool:
    """Whether that is one, rather than what a torn page left."""
    kind, _, name = text.partition(":")
    bare = name.replace("-", "", 1)
    return kind in _KINDS and bare.isalnum() and bare.isascii()


_KINDS = frozenset(kind.value for kind in Kind)
