"""The connection to the database: how it is opened, and what a transaction is. SQLite now, PostgreSQL by the same URL.

SQLite runs in WAL mode with ``synchronous=FULL``: a committed transaction survives the loss of power, and readers do not
wait for the writer. Write transactions start with ``BEGIN IMMEDIATE``, so that two of them queue instead of failing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.pool import StaticPool

from otel_eval.ledger.errors import LedgerError, LedgerNotFound, LedgerRefused, LedgerUnavailable
from otel_eval.ledger.format import migrate, renew_identity

BUSY_TIMEOUT_S = 30
_WRITE = "otel_eval_write"


class Database:
    """An open database of the current format."""

    def __init__(
        self, engine: Engine, lock: contextlib.AbstractContextManager[Any], *, file: Path | None = None
    ) -> None:
        self.file = file
        """The file that it is kept in; None where it is kept in memory, or by a server."""
        self._engine = engine
        self._writer = engine.execution_options(**{_WRITE: True})
        self._lock = lock

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Database:
        """Connect, make or migrate the tables. Raises LedgerNotFound, LedgerFormatError or LedgerUnavailable."""
        parsed = _with_driver(_parse(url))
        in_memory = parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:")
        file = Path(str(parsed.database)) if parsed.get_backend_name() == "sqlite" and not in_memory else None
        if file is not None:
            _prepare_file(file, create=create)
        # In memory there is one connection for all threads, hence the lock; a file has one for each.
        lock = threading.RLock() if in_memory else contextlib.nullcontext()
        database = cls(_engine(parsed, in_memory), lock, file=file)
        try:
            with database.writing() as connection:
                migrate(connection)
                if create:  # to write
                    renew_identity(connection)
        except LedgerError:
            database.close()
            raise
        return database

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection inside a read transaction: everything read is of one moment."""
        with self._lock, _mapped(), self._engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection inside a write transaction, committed at the end; rolled back where the block raises."""
        with self._lock, _mapped(), self._writer.begin() as connection:
            yield connection

    def vacate(self) -> None:
        """Bring the write-ahead log into the file and empty it, so that deleted content is in neither."""
        if self._engine.dialect.name != "sqlite":
            return
        with self._lock, _mapped(), self._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(
                "PRAGMA wal_checkpoint(TRUNCATE)"
            )

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except ArgumentError as error:
        raise LedgerError("the ledger's URL is not one that SQLAlchemy reads, such as sqlite:///ledger.db") from error


def _with_driver(url: URL) -> URL:
    """``postgresql://…`` is spoken by psycopg, whatever SQLAlchemy's own default is."""
    return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgresql", "postgres") else url


def _engine(url: URL, in_memory: bool) -> Engine:
    sqlite = url.get_backend_name() == "sqlite"
    options: dict[str, Any] = {}
    if sqlite:
        options["connect_args"] = {"timeout": BUSY_TIMEOUT_S, "check_same_thread": False}
    if in_memory:
        options["poolclass"] = StaticPool
    try:
        engine = create_engine(url, **options)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        hint = "; pip install 'otel-eval[postgres]'" if url.get_backend_name() == "postgresql" else ""
        raise LedgerError(f"no driver for a ledger at {url.get_backend_name()}: {error}{hint}") from error
    if sqlite:
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, record: object) -> None:
    connection.isolation_level = None  # the driver must not begin transactions on its own: _begin_sqlite does
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get(_WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _prepare_file(path: Path, *, create: bool) -> None:
    """Make the directory 0700 and the file 0600 where they are not there; SQLite gives its side files the same mode.

    No directory above that one: more often than wanted, a path that leads through nothing is misspelt, or its volume is not
    mounted, and the ledger would be where nobody looks for it.
    """
    if path.exists():
        return
    if not create:
        raise LedgerNotFound(f"there is no ledger at {path}")
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except FileNotFoundError as error:
        raise LedgerUnavailable(
            f"the ledger's file {path} cannot be made: there is no directory {path.parent.parent}. Only the one that the file "
            f"lies in is made; correct ledger.url, mount what is missing, or make the others"
        ) from error
    except OSError as error:
        raise LedgerUnavailable(f"the ledger's file cannot be made: {error}") from error


@contextlib.contextmanager
def _mapped() -> Iterator[None]:
    """SQLAlchemy's errors as ours: the driver's words, without the statement and its parameters (they hold content)."""
    try:
        yield
    except DataError as error:
        raise LedgerRefused(f"the ledger's database cannot hold it: {error.orig}") from error
    except OperationalError as error:
        if (getattr(error.orig, "sqlstate", None) or "").startswith(_BEYOND_LIMITS):
            raise LedgerRefused(f"the ledger's database cannot hold it: {error.orig}") from error
        code = getattr(error.orig, "sqlite_errorcode", 0) & _PRIMARY
        hint = _CANNOT_OPEN if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) else ""
        raise LedgerUnavailable(f"the ledger's database did not take it: {error.orig}{hint}") from error
    except DBAPIError as error:
        if getattr(error.orig, "sqlite_errorcode", None) in _DAMAGED:
            raise LedgerError(
                f"the ledger's file (ledger.db in storage.directory, or what ledger.url names) is damaged or is no ledger "
                f"({error.orig}): put a backup in its place, or move it away to start with an empty ledger"
            ) from error
        raise LedgerError(f"the ledger's database refused it: {error.orig}") from error


# Source: PostgreSQL 15, appendix A: class 54, program limit exceeded; an operational error by its driver.
_BEYOND_LIMITS = "54"
_PRIMARY = 0xFF
"""What of SQLite's extended result codes is the primary one. Source: sqlite.org/rescode.html."""
_CANNOT_OPEN = (
    ": it has to be a file, of which and beside which this user may write, also to read it (a copy on a disk that can be "
    "written will do)"
)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
