"""The journal's SQL. Writes run inside the writer's transaction, reads on the connection that only reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeAlias

from otel_eval.journal.entry import ClosedTrace, Encoding, Entry, Request, Signal

PAGE_BYTES = 8 << 20
"""How much of the journal a reader takes into memory at a time; one entry may be larger."""

_PARAMETERS = 500
"""Values in one statement: older SQLite takes 999."""

Row: TypeAlias = tuple[Signal, Encoding, int, bytes]
"""Signal, encoding, time of arrival, body."""

MAX_ROWS = 64
"""Rows in one statement."""

_INSERT = "INSERT INTO entries (signal, encoding, received_ns, body) VALUES "
_ENTRY = "SELECT seq, signal, encoding, received_ns, body FROM entries"


def insert(connection: sqlite3.Connection, rows: Sequence[Row]) -> range:
    """The new entries' sequence numbers, in the order of the rows.

    One statement for all of them: each further one would wait for the interpreter's lock, up to 5 ms under load.
    """
    statement = _INSERT + ",".join(["(?, ?, ?, ?)"] * len(rows))
    with closing(connection.execute(statement, [value for row in rows for value in row])) as done:
        assert done.lastrowid is not None
        return range(done.lastrowid - len(rows) + 1, done.lastrowid + 1)


def delete(connection: sqlite3.Connection, seqs: Sequence[int]) -> int:
    """How many bytes of bodies went."""
    freed = 0
    for start in range(0, len(seqs), _PARAMETERS):
        chunk = seqs[start : start + _PARAMETERS]
        marks = ",".join("?" * len(chunk))
        gone = connection.execute(f"DELETE FROM entries WHERE seq IN ({marks}) RETURNING length(body)", chunk)
        freed += sum(size for (size,) in gone.fetchall())
    return freed


def rewrite(connection: sqlite3.Connection, bodies: Mapping[int, bytes | None]) -> int:
    """Put other bodies into entries, or take the entry out for None; how many bytes of bodies went."""
    freed = delete(connection, [seq for seq, body in bodies.items() if body is None])
    for seq, body in bodies.items():
        if body is None:
            continue
        row = _row(connection, "SELECT length(body) FROM entries WHERE seq = ?", seq)
        if row is not None:
            connection.execute("UPDATE entries SET body = ? WHERE seq = ?", (body, seq))
            freed += int(row[0]) - len(body)
    return freed


def advance(connection: sqlite3.Connection, reader: str, seq: int) -> None:
    connection.execute(
        "INSERT INTO positions (reader, seq) VALUES (?, ?) ON CONFLICT (reader) DO UPDATE SET seq = excluded.seq",
        (reader, seq),
    )


def position(connection: sqlite3.Connection, reader: str) -> int:
    row = _row(connection, "SELECT seq FROM positions WHERE reader = ?", reader)
    return 0 if row is None else int(row[0])


@contextmanager
def scrubbing(connection: sqlite3.Connection) -> Iterator[None]:
    """What goes in the block is overwritten in the file; pages that earlier deletions left behind leave the file."""
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    try:
        yield
        connection.execute("PRAGMA incremental_vacuum").fetchall()
    finally:
        connection.execute("PRAGMA secure_delete = FAST").fetchall()


def keep(connection: sqlite3.Connection, traces: Sequence[ClosedTrace]) -> None:
    connection.executemany(
        "INSERT INTO closed_traces (trace_id, until_ns, blob) VALUES (?, ?, ?)"
        " ON CONFLICT (trace_id) DO UPDATE SET until_ns = excluded.until_ns, blob = excluded.blob",
        [(bytes.fromhex(trace.trace_id), trace.until_ns, trace.blob) for trace in traces],
    )


def expire(connection: sqlite3.Connection, now_ns: int) -> int:
    """How many closed traces went."""
    with closing(connection.execute("DELETE FROM closed_traces WHERE until_ns < ?", (now_ns,))) as done:
        return done.rowcount


def empty(connection: sqlite3.Connection, trace_ids: Sequence[str]) -> None:
    """Take the blobs of closed traces away; that they are closed stays known."""
    connection.executemany(
        "UPDATE closed_traces SET blob = x'' WHERE trace_id = ?", [(bytes.fromhex(trace_id),) for trace_id in trace_ids]
    )


def newest(connection: sqlite3.Connection) -> int:
    """The newest sequence number ever given; 0 where there never was one."""
    row = _row(connection, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'entries'")
    assert row is not None
    return int(row[0])


def size(connection: sqlite3.Connection) -> int:
    """The bytes of all bodies."""
    # length() of a blob reads the row's header alone, not the blob.
    row = _row(connection, "SELECT coalesce(sum(length(body)), 0) FROM entries")
    assert row is not None
    return int(row[0])


def page(connection: sqlite3.Connection, after: int) -> list[Entry]:
    """The next entries behind ``after``, about :data:`PAGE_BYTES` of them; empty where there is none."""
    entries: list[Entry] = []
    taken = 0
    with closing(connection.execute(f"{_ENTRY} WHERE seq > ? ORDER BY seq", (after,))) as rows:
        for row in rows:
            entries.append(_entry(row))
            taken += len(entries[-1].request.body)
            if taken >= PAGE_BYTES:
                break
    return entries


def entry(connection: sqlite3.Connection, seq: int) -> Entry | None:
    row = _row(connection, f"{_ENTRY} WHERE seq = ?", seq)
    return None if row is None else _entry(row)


def kept(connection: sqlite3.Connection, trace_id: str) -> bytes | None:
    row = _row(connection, "SELECT blob FROM closed_traces WHERE trace_id = ?", bytes.fromhex(trace_id))
    return None if row is None else bytes(row[0])


def closed_traces(connection: sqlite3.Connection) -> tuple[ClosedTrace, ...]:
    """All of them, without their blobs."""
    with closing(connection.execute("SELECT trace_id, until_ns FROM closed_traces")) as rows:
        return tuple(ClosedTrace(trace_id=trace_id.hex(), until_ns=until_ns) for trace_id, until_ns in rows)


def _entry(row: tuple[Any, ...]) -> Entry:
    seq, signal, encoding, received_ns, body = row
    return Entry(seq=seq, request=Request(signal=signal, encoding=encoding, body=body), received_ns=received_ns)


def _row(connection: sqlite3.Connection, statement: str, *parameters: object) -> tuple[Any, ...] | None:
    with closing(connection.execute(statement, parameters)) as rows:
        row: tuple[Any, ...] | None = rows.fetchone()
        return row
