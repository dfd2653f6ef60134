"""Storing a batch in one transaction. Everything is an upsert by a computed id, so doing it again changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Connection, Table, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from otel_eval import interaction_json, record_json
from otel_eval.interaction import Interaction
from otel_eval.ledger import body
from otel_eval.ledger.changes import Seen, classify
from otel_eval.ledger.model import Batch, Stored, StoredInteraction, WaitingEvaluation
from otel_eval.ledger.schema import aliases, interactions, outbox, records, waiting
from otel_eval.record import EvaluationRecord, Origin

CHUNK = 500
"""Ids per IN list: SQLite has a limit on bound parameters."""

Rows: TypeAlias = list[dict[str, Any]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch with its JSON made: done by the caller, so that the writer thread holds the database for less time."""

    batch: Batch
    interaction_rows: Rows
    record_rows: Rows
    waiting_rows: Rows


def prepare(batch: Batch) -> Prepared:
    """Make the rows. Pure."""
    return Prepared(
        batch,
        [_interaction_row(stored) for stored in batch.interactions],
        [_record_row(record) for record in batch.records],
        [_waiting_row(evaluation) for evaluation in batch.waiting],
    )


def merged(batches: Sequence[Prepared]) -> Prepared:
    """Batches of records alone as one, in their order: its statements cost the same for one record as for all of them.

    Either all of them are of known Interactions, or none is said to be.
    """
    return Prepared(
        Batch(
            records=tuple(record for each in batches for record in each.batch.records),
            of_known=batches[0].batch.of_known,
        ),
        [],
        [row for each in batches for row in each.record_rows],
        [],
    )


def commit(connection: Connection, prepared: Prepared, *, outbox: bool) -> tuple[Stored, ...]:
    """Store it all inside the caller's transaction; what became of each record, in the batch's order."""
    batch = prepared.batch
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
        query = select(aliases.c.alias, aliases.c.interaction_id).where(aliases.c.alias.in_(chunk))
        found.update({row.alias: row.interaction_id for row in connection.execute(query)})
    return found


def upsert(connection: Connection, table: Table) -> Any:
    """An INSERT that can say ``on_conflict_do_…``, in the database's dialect."""
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)


def chunks(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    """The ids in lists that a statement takes."""
    for start in range(0, len(ids), CHUNK):
        yield ids[start : start + CHUNK]


def _store_interactions(connection: Connection, rows: Rows) -> None:
    insert = upsert(connection, interactions)
    insert = insert.on_conflict_do_update(
        index_elements=[interactions.c.id],
        set_={column.name: insert.excluded[column.name] for column in interactions.c if column.name != "id"},
        where=insert.excluded.revision >= interactions.c.revision,
    )
    connection.execute(insert, rows)
    revised = [{"b_id": row["id"], "b_revision": row["revision"]} for row in rows if row["revision"] > 1]
    if revised:
        older = delete(waiting).where(
            waiting.c.interaction_id == bindparam("b_id"), waiting.c.revision < bindparam("b_revision")
        )
        connection.execute(older, revised)


def _store_aliases(connection: Connection, pairs: Mapping[str, str]) -> None:
    """Aliases never chain: what pointed at an id that becomes an alias points at the new id afterwards."""
    for alias, target in pairs.items():
        if alias == target:
            continue
        target = canonical_ids(connection, [target]).get(target, target)
        if alias == target:
            continue  # the other way round is stored already: the first one stays
        insert = upsert(connection, aliases)
        connection.execute(
            insert.on_conflict_do_update(
                index_elements=[aliases.c.alias], set_={"interaction_id": insert.excluded.interaction_id}
            ),
            {"alias": alias, "interaction_id": target},
        )
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
    forgotten = _forgotten(connection, prepared) if batch.of_known else set()
    stored, fresh = classify(seen, batch.records, [row["canonical_id"] for row in prepared.record_rows], forgotten)
    rows = [prepared.record_rows[index] for index in fresh]
    if rows:
        connection.execute(records.insert(), rows)
        if outbox:
            _queue_for_export(connection, rows)
    for chunk in chunks([record.id for record in batch.records]):
        connection.execute(delete(waiting).where(waiting.c.evaluation_id.in_(chunk)))
    return stored


def _forgotten(connection: Connection, prepared: Prepared) -> set[str]:
    """The Interactions, after aliases, that these records are about and that are not here: they were deleted meanwhile.

    What is found is locked until the records are stored (where the database locks rows), and whoever deletes locks it
    before he deletes its records: so none is stored behind his back.
    """
    known_as: dict[str, set[str]] = {}
    for record, row in zip(prepared.batch.records, prepared.record_rows, strict=True):
        known_as.setdefault(row["canonical_id"], set()).update((row["canonical_id"], record.interaction_id))
    asked = sorted({name for names in known_as.values() for name in names})
    here: set[str] = set()
    for chunk in chunks(asked):
        query = select(interactions.c.id).where(interactions.c.id.in_(chunk)).order_by(interactions.c.id)
        here.update(connection.execute(query.with_for_update(read=True, key_share=True)).scalars())
    return {canonical for canonical, names in known_as.items() if not names & here}


def _queue_for_export(connection: Connection, rows: Rows) -> None:
    queued = [row for row in rows if row["origin"] != Origin.OFFLINE]
    if not queued:
        return
    of_interactions: dict[str, tuple[int | None, str | None]] = {}
    for chunk in chunks(sorted({row["canonical_id"] for row in queued})):
        query = select(interactions.c.id, interactions.c.ended_ns, interactions.c.response_id)
        for row in connection.execute(query.where(interactions.c.id.in_(chunk))):
            of_interactions[row.id] = (row.ended_ns, row.response_id)
    entries = []
    for queued_row in queued:
        ended_ns, response_id = of_interactions.get(queued_row["canonical_id"], (None, None))
        entries.append(
            {"evaluation_id": queued_row["id"], "interaction_ended_ns": ended_ns, "response_id": response_id}
        )
    connection.execute(outbox.insert(), entries)


def _seen(connection: Connection, canonical: set[str]) -> list[Seen]:
    columns = (
        records.c.id, records.c.canonical_id, records.c.evaluator, records.c.evaluator_version,
        records.c.revision, records.c.attempt, records.c.origin, records.c.outcome,
    )  # fmt: skip
    seen: list[Seen] = []
    for chunk in chunks(sorted(canonical)):
        rows = connection.execute(select(*columns).where(records.c.canonical_id.in_(chunk)))
        seen += [Seen(*row) for row in rows]
    return seen


def _store_waiting(connection: Connection, rows: Rows) -> None:
    ended: set[str] = set()
    for chunk in chunks([row["evaluation_id"] for row in rows]):
        ended.update(connection.execute(select(records.c.id).where(records.c.id.in_(chunk))).scalars())
    missing = [row for row in rows if row["evaluation_id"] not in ended]
    if missing:
        connection.execute(upsert(connection, waiting).on_conflict_do_nothing(), missing)


def _interaction_row(stored: StoredInteraction) -> dict[str, Any]:
    interaction = stored.interaction
    return {
        "id": interaction.id,
        "revision": stored.revision,
        "digest": stored.digest,
        "trace_id": interaction.trace_id,
        "parent_id": interaction.parent_id,
        "agent": body.column(interaction.agent),
        "session": body.column(interaction.session),
        "user_id": body.column(interaction.user_id),
        "service": body.column(interaction.service_name),
        "environment": body.column(interaction.environment),
        "failed": interaction.failed,
        "complete": interaction.complete,
        "response_id": body.column(_response_id(interaction)),
        "started_ns": body.time_column(interaction.started_ns),
        "ended_ns": body.time_column(interaction.ended_ns),
        "body": body.dump(interaction_json.to_json(interaction)),
    }


def _response_id(interaction: Interaction) -> str | None:
    """``gen_ai.response.id`` of the model's last answer, which is where the reply comes from."""
    ids = [call.response_id for call in interaction.model_calls if call.response_id]
    return ids[-1] if ids else None


def _record_row(record: EvaluationRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "canonical_id": record.interaction_id,
        "evaluator": body.column(record.evaluator),
        "evaluator_version": body.column(record.evaluator_version),
        "check": body.column(record.check),
        "agent": body.column(record.agent),
        "session": body.column(record.session),
        "service": body.column(record.service),
        "environment": body.column(record.environment),
        "revision": record.revision,
        "attempt": record.attempt,
        "origin": record.origin.value,
        "outcome": record.outcome.name,
        "ended_ns": body.time_column(record.ended_ns),
        "body": body.dump(record_json.to_json(record)),
    }


def _waiting_row(evaluation: WaitingEvaluation) -> dict[str, Any]:
    return {
        "evaluation_id": evaluation.evaluation_id,
        "interaction_id": evaluation.interaction_id,
        "evaluator": evaluation.evaluator,
        "evaluator_version": evaluation.evaluator_version,
        "check": evaluation.check,
        "revision": evaluation.revision,
        "attempt": evaluation.attempt,
        "origin": evaluation.origin.value,
        "enqueued_ns": evaluation.enqueued_ns,
        "not_before_ns": evaluation.not_before_ns,
    }
