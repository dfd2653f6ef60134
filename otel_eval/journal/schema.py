"""The journal's SQLite file: how it is opened, which format it has, how an older one is brought up to date."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from otel_eval.journal.errors import JournalCorrupt, JournalTooNew, JournalUnusable, JournalUnwritable

FILE = "journal.db"

APPLICATION_ID = 0x6F74656A
"""Marks the file as a journal ("otej"), so that a stranger's database is never written to."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # AUTOINCREMENT: a sequence number is never given twice, also after everything was released.
        """CREATE TABLE entries (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            signal TEXT NOT NULL,
            encoding TEXT NOT NULL,
            received_ns INTEGER NOT NULL,
            body BLOB NOT NULL
        )""",
        "CREATE TABLE closed_traces (trace_id BLOB PRIMARY KEY, until_ns INTEGER NOT NULL, blob BLOB NOT NULL)",
        "CREATE INDEX closed_traces_until ON closed_traces (until_ns)",
    ),
    # How far readers other than the one that releases have come.
    ("CREATE TABLE positions (reader TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID",),
)
"""``MIGRATIONS[n]`` takes a file from format n to n + 1. Never change an entry that was released: append."""

FORMAT = len(MIGRATIONS)

WAL_BYTES = 64 << 20
"""When the log is copied into the file. Larger: fewer pauses for it, more room on the disk."""
_PAGE_BYTES = 16384
"""Bodies of a few 100 KB: a third less CPU than with SQLite's own 4096, measured at 300 MB/s."""


def open_for_writing(path: Path) -> sqlite3.Connection:
    """The one connection that writes, at the current format; the file is made (0600) where there is none.

    Raises :class:`JournalCorrupt`, :class:`JournalTooNew` or :class:`JournalUnusable`.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise JournalUnusable(f"cannot write {path}: {error.strerror}") from error
    with _explained(path):
        # A statement that is kept keeps a copy of the values that it was last given, and there is one for each number of rows.
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=0)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A connection that sees what is committed and can change nothing."""
    with _explained(path):
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA query_only = ON")
        return connection


@contextmanager
def storage_errors() -> Iterator[None]:
    """Map what SQLite raises while running to :class:`JournalUnwritable` and :class:`JournalCorrupt`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise JournalUnwritable(f"the journal's storage refused: {error}") from error
    except sqlite3.DatabaseError as error:
        raise JournalCorrupt(f"the journal is damaged: {error}") from error


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    way_out = "move the file away to start with an empty journal (what it held unevaluated is then lost)"
    try:
        yield
    except sqlite3.OperationalError as error:
        raise JournalUnusable(f"cannot open {path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise JournalCorrupt(f"{path} is damaged or is no journal ({error}): {way_out}") from error


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = _pragma(connection, "user_version")
    application = _pragma(connection, "application_id")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and application != APPLICATION_ID:
        raise JournalCorrupt(f"{path} is a SQLite database, but not a journal of otel-eval: it is left as it is")
    if version > FORMAT:
        raise JournalTooNew(
            f"{path} has journal format {version}; this otel-eval knows formats up to {FORMAT}: use a newer one"
        )
    if not tables:
        # Both have to be set before the first table is made.
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    # What is deleted is overwritten where its page is written anyway; see queries.scrubbing for the rest.
    connection.execute("PRAGMA secure_delete = FAST").fetchall()
    connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_BYTES // _PAGE_BYTES}")
    connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
    if tables:
        _check(connection, path)
    for step in range(version, FORMAT):
        _migrate(connection, step)


def _check(connection: sqlite3.Connection, path: Path) -> None:
    with closing(connection.execute("PRAGMA quick_check(1)")) as rows:
        found = rows.fetchone()[0]
    if found != "ok":
        raise JournalCorrupt(f"{path} is damaged ({found}): move the file away to start with an empty journal")


def _migrate(connection: sqlite3.Connection, step: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in MIGRATIONS[step]:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {step + 1}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
