"""What a consumer may have changed in a journal, as values: the writer makes the change, wherever the consumer runs.

Each is made inside the writer's transaction, and gives a number. Those that ``frees`` give the bytes of bodies that went,
which the journal's backlog is smaller by.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from otel_eval.journal import queries
from otel_eval.journal.entry import ClosedTrace


class Change(Protocol):
    """One change. ``scrubs``: what goes must not be found in the files afterwards."""

    frees: ClassVar[bool]
    scrubs: ClassVar[bool]

    def make(self, connection: sqlite3.Connection) -> int: ...


@dataclass(frozen=True, slots=True)
class Release:
    """Let these entries go. Unknown ones are passed over."""

    seqs: tuple[int, ...]
    frees: ClassVar[bool] = True
    scrubs: ClassVar[bool] = False

    def make(self, connection: sqlite3.Connection) -> int:
        return queries.delete(connection, self.seqs)


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep closed traces, over what was kept of them before; how many they are."""

    traces: tuple[ClosedTrace, ...]
    frees: ClassVar[bool] = False
    scrubs: ClassVar[bool] = False

    def make(self, connection: sqlite3.Connection) -> int:
        queries.keep(connection, self.traces)
        return len(self.traces)


@dataclass(frozen=True, slots=True)
class Expire:
    """Forget the closed traces kept until before then; how many went."""

    now_ns: int
    frees: ClassVar[bool] = False
    scrubs: ClassVar[bool] = False

    def make(self, connection: sqlite3.Connection) -> int:
        return queries.expire(connection, self.now_ns)


@dataclass(frozen=True, slots=True)
class Advance:
    """How far the reader of that name has come; gives that back."""

    reader: str
    seq: int
    frees: ClassVar[bool] = False
    scrubs: ClassVar[bool] = False

    def make(self, connection: sqlite3.Connection) -> int:
        queries.advance(connection, self.reader, self.seq)
        return self.seq


@dataclass(frozen=True, slots=True)
class Forget:
    """Delete what is kept of these traces, and put other bodies into entries (None: take the entry out)."""

    trace_ids: tuple[str, ...]
    bodies: Mapping[int, bytes | None] = field(default_factory=dict)
    frees: ClassVar[bool] = True
    scrubs: ClassVar[bool] = True

    def make(self, connection: sqlite3.Connection) -> int:
        queries.empty(connection, self.trace_ids)
        return queries.rewrite(connection, self.bodies)
