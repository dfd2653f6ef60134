"""Storing a batch in one transaction. Everything is an upsert by a computed id, so doing it again changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from sqlalchemy import Connection, delete, select, update

from otel_eval.ledger import statements
from otel_eval.ledger.changes import Seen, classify
from otel_eval.ledger.model import Stored
from otel_eval.ledger.rows import Prepared, Rows
from otel_eval.ledger.schema import aliases, interactions, records
from otel_eval.record import Origin

CHUNK = 500
"""Ids per IN list: SQLite has a limit on bound parameters."""

OfInteraction: TypeAlias = tuple[int | None, str | None]
"""When it ended, and the id of its model's last answer."""

T = TypeVar("T")


def commit(connection: Connection, prepared: Prepared, *, outbox: bool) -> tuple[Stored, ...]:
    """Store it all inside the caller's transaction; what became of each record, in the batch's order."""
    batch = prepared.batch
    if batch.records:
        _number(connection, prepared.record_rows)  # first: whoever waits for his numbers holds nothing else
    if prepared.interaction_rows:
        _store_interactions(connection, prepared.interaction_rows)
    if batch.aliases:
        _store_aliases(connection, batch.aliases)
    stored = _store_records(connection, prepared, outbox=outbox) if batch.records else ()
    if prepared.waiting_rows:
        _store_waiting(connection, prepared.waiting_rows)
    return stored


def canonical_ids(connection: Connection, ids: Iterable[str]) -> dict[str, str]:
    """Where an id is an alias, what it stands for; ids that are none are left out."""
    found: dict[str, str] = {}
    for chunk in chunks(sorted(set(ids))):
        found.update({row.alias: row.interaction_id for row in connection.execute(statements.ALIASES, {"ids": chunk})})
    return found


def chunks(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    """The ids in lists that a statement takes."""
    for start in range(0, len(ids), CHUNK):
        yield ids[start : start + CHUNK]


def _number(connection: Connection, rows: Rows) -> None:
    """Number records in their order. Those that turn out not to be new leave a gap, which nobody minds."""
    last = connection.execute(statements.TAKE_NUMBERS, {"count": len(rows)}).scalar_one()
    for sequence, row in enumerate(rows, last - len(rows) + 1):
        row["sequence"] = sequence


def _store_interactions(connection: Connection, rows: Rows) -> None:
    connection.execute(statements.upsert_interactions(connection.dialect.name), rows)
    revised = [{"b_id": row["id"], "b_revision": row["revision"]} for row in rows if row["revision"] > 1]
    if revised:
        connection.execute(statements.END_OLDER, revised)


def _store_aliases(connection: Connection, pairs: Mapping[str, str]) -> None:
    """Aliases never chain: what pointed at an id that becomes an alias points at the new id afterwards."""
    for alias, target in pairs.items():
        if alias == target:
            continue
        target = canonical_ids(connection, [target]).get(target, target)
        if alias == target:
            continue  # the other way round is stored already: the first one stays
        pair = {"alias": alias, "interaction_id": target}
        connection.execute(statements.upsert_alias(connection.dialect.name), pair)
        connection.execute(update(aliases).where(aliases.c.interaction_id == alias).values(interaction_id=target))
        connection.execute(update(records).where(records.c.canonical_id == alias).values(canonical_id=target))
        target_is_stored = select(interactions.c.id).where(interactions.c.id == target)
        if connection.execute(target_is_stored).first() is not None:
            connection.execute(delete(interactions).where(interactions.c.id == alias))


def _store_records(connection: Connection, prepared: Prepared, *, outbox: bool) -> tuple[Stored, ...]:
    batch = prepared.batch
    canonical = canonical_ids(connection, (record.interaction_id for record in batch.records))
    for row in prepared.record_rows:
        row["canonical_id"] = canonical.get(row["canonical_id"], row["canonical_id"])
    seen = _seen(connection, {row["canonical_id"] for row in prepared.record_rows})
    here = _interactions(connection, prepared) if batch.of_known or outbox else {}
    forgotten = _forgotten(prepared, here) if batch.of_known else set()
    stored, fresh = classify(seen, batch.records, [row["canonical_id"] for row in prepared.record_rows], forgotten)
    rows = [prepared.record_rows[index] for index in fresh]
    if rows:
        connection.execute(statements.INSERT_RECORDS, rows)
        if outbox:
            _queue_for_export(connection, rows, here)
    for chunk in chunks([record.id for record in batch.records]):
        connection.execute(statements.END_WAITING, {"ids": chunk})
    return stored


def _interactions(connection: Connection, prepared: Prepared) -> dict[str, OfInteraction]:
    """What an export needs of the Interactions that these records are about, by id, under either of an alias's ids.

    What is found is locked until records of known Interactions are stored (where the database locks rows), and whoever
    deletes locks it before he deletes its records: so none is stored behind his back.
    """
    query = statements.OF_INTERACTIONS_HELD if prepared.batch.of_known else statements.OF_INTERACTIONS
    names = {record.interaction_id for record in prepared.batch.records}
    names |= {row["canonical_id"] for row in prepared.record_rows}
    return {
        row.id: (row.ended_ns, row.response_id)
        for chunk in chunks(sorted(names))
        for row in connection.execute(query, {"ids": chunk})
    }


def _forgotten(prepared: Prepared, here: Mapping[str, OfInteraction]) -> set[str]:
    """The Interactions, after aliases, that are not here: they were deleted while they were judged."""
    known_as: dict[str, set[str]] = {}
    for record, row in zip(prepared.batch.records, prepared.record_rows, strict=True):
        known_as.setdefault(row["canonical_id"], set()).update((row["canonical_id"], record.interaction_id))
    return {canonical for canonical, names in known_as.items() if not names & here.keys()}


def _queue_for_export(connection: Connection, rows: Rows, here: Mapping[str, OfInteraction]) -> None:
    entries = []
    for row in rows:
        if row["origin"] != Origin.OFFLINE:
            ended_ns, response_id = here.get(row["canonical_id"], (None, None))
            entries.append({"evaluation_id": row["id"], "interaction_ended_ns": ended_ns, "response_id": response_id})
    if entries:
        connection.execute(statements.INSERT_OUTBOX, entries)


def _seen(connection: Connection, canonical: set[str]) -> list[Seen]:
    return [
        Seen(*row) for chunk in chunks(sorted(canonical)) for row in connection.execute(statements.SEEN, {"ids": chunk})
    ]


def _store_waiting(connection: Connection, rows: Rows) -> None:
    ended: set[str] = set()
    for chunk in chunks([row["evaluation_id"] for row in rows]):
        ended.update(connection.execute(statements.ENDED, {"ids": chunk}).scalars())
    missing = [row for row in rows if row["evaluation_id"] not in ended]
    if missing:
        connection.execute(statements.upsert_waiting(connection.dialect.name), missing)
