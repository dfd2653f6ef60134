"""The ledger's format: a version in the database; an older one is migrated step by step, a newer one is left alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, inspect, select

from otel_eval.ledger.errors import LedgerFormatError
from otel_eval.ledger.schema import ledger_format, metadata

FORMAT = 1
"""The version that this otel-eval writes."""

Step = Callable[[Connection], None]
STEPS: Mapping[int, Step] = {}
"""How to get from the version that is the key to the next one, by SQL that names columns: never through ``schema.py``,
which moves on."""


def migrate(connection: Connection, *, target: int = FORMAT, steps: Mapping[int, Step] = STEPS) -> None:
    """Bring the database to ``target`` inside the caller's transaction: all of it, or nothing.

    Raises LedgerFormatError where the database is newer, or where it holds tables that are not a ledger's.
    """
    found = _version(connection)
    if found is None:
        metadata.create_all(connection)
        connection.execute(ledger_format.insert().values(version=target))
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


def _version(connection: Connection) -> int | None:
    """None for an empty database."""
    if inspect(connection).has_table(ledger_format.name):
        return int(connection.execute(select(ledger_format.c.version)).scalar_one())
    return None
