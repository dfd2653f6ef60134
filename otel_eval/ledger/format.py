"""The ledger's format: a version in the database; an older one is migrated step by step, a newer one is left alone."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping

from sqlalchemy import Connection, inspect, select, text

from otel_eval.ledger.errors import LedgerFormatError
from otel_eval.ledger.schema import former, ledger_format, metadata, storing

FORMAT = 3
"""The version that this otel-eval writes."""

Step = Callable[[Connection], None]


def _number_records(connection: Connection) -> None:
    """Records are numbered in the order of storing from now on, so that somebody can follow them."""
    for statement in (
        "ALTER TABLE records ADD COLUMN sequence BIGINT",
        "CREATE UNIQUE INDEX records_in_order ON records (sequence)",
        "CREATE TABLE storing (identity VARCHAR NOT NULL PRIMARY KEY, last BIGINT NOT NULL)",
    ):
        connection.execute(text(statement))
    connection.execute(
        text("INSERT INTO storing (identity, last) VALUES (:identity, 0)"), {"identity": uuid.uuid4().hex}
    )


def _keep_identities(connection: Connection) -> None:
    """The identities that it had before are kept, so that it can have a new one each time that it is opened to write."""
    connection.execute(text("CREATE TABLE former (identity VARCHAR NOT NULL PRIMARY KEY, last BIGINT NOT NULL)"))


STEPS: Mapping[int, Step] = {1: _number_records, 2: _keep_identities}
"""How to get from the version that is the key to the next one, by SQL that names columns: never through ``schema.py``,
which moves on."""


def migrate(connection: Connection, *, target: int = FORMAT, steps: Mapping[int, Step] = STEPS) -> None:
    """Bring the database to ``target`` inside the caller's transaction: all of it, or nothing.

    Raises LedgerFormatError where the database is newer, or another program's.
    """
    found = _version(connection)
    if found is None:
        _refuse_anothers(connection)
        metadata.create_all(connection)
        connection.execute(ledger_format.insert().values(version=target))
        connection.execute(storing.insert().values(identity=uuid.uuid4().hex, last=0))
        return
    if found > target:
        raise LedgerFormatError(
            f"the ledger has format {found}, written by a newer otel-eval; this one reads up to {target}. "
            "Upgrade otel-eval, or point ledger.url at another file."
        )
    for version in range(found, target):
        if version not in steps:
            raise LedgerFormatError(f"the ledger has format {found}, from which there is no way to {target}")
        steps[version](connection)
    if found < target:
        connection.execute(ledger_format.update().values(version=target))


def renew_identity(connection: Connection) -> None:
    """Give the ledger a new identity, and keep the one that it had with the last number that was given out under it.

    To be called before anything is stored: a file may have been put back from a backup since it was written to.
    """
    before = connection.execute(select(storing).with_for_update()).one()
    connection.execute(former.insert().values(identity=before.identity, last=before.last))
    connection.execute(storing.update().values(identity=uuid.uuid4().hex))


def _refuse_anothers(connection: Connection) -> None:
    """A file has one owner; on a server a schema may be shared, as long as no table there has the name of one of ours."""
    there = set(inspect(connection).get_table_names())
    if connection.dialect.name != "sqlite":
        there &= set(metadata.tables)
    if there:
        names = sorted(there)
        some = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        raise LedgerFormatError(
            f"the database that ledger.url names is another program's: it holds the tables {some} and is no ledger. "
            "Give otel-eval a database of its own."
        )


def _version(connection: Connection) -> int | None:
    """None for an empty database."""
    if inspect(connection).has_table(ledger_format.name):
        return int(connection.execute(select(ledger_format.c.version)).scalar_one())
    return None
