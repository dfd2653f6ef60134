"""Reading the ledger. Iterators read page by page, so that a long listing holds no transaction open."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select

from otel_eval import interaction_json, record_json
from otel_eval.interaction import Interaction
from otel_eval.ledger import body, statements
from otel_eval.ledger.database import Database
from otel_eval.ledger.model import StoredInteraction
from otel_eval.ledger.schema import interactions, records
from otel_eval.ledger.write import canonical_ids, chunks
from otel_eval.record import EvaluationRecord, Origin

PAGE = 500


class RecordFilter(NamedTuple):
    """What records are asked for; None asks for all."""

    interaction_id: str | None = None
    evaluator: str | None = None
    agent: str | None = None
    session: str | None = None
    origin: Origin | None = None
    since_ns: int | None = None
    until_ns: int | None = None


def stored_interaction(connection: Connection, interaction_id: str) -> StoredInteraction:
    """The newest revision, through an alias where the Interaction is stored under its new id. KeyError for none."""
    return stored_interactions(connection, [interaction_id])[interaction_id]


def stored_interactions(connection: Connection, ids: Collection[str]) -> dict[str, StoredInteraction]:
    """The same for many, in one query; ids that are unknown are left out."""
    canonical = canonical_ids(connection, ids)
    rows: dict[str, Any] = {}
    for chunk in chunks(sorted({*ids, *canonical.values()})):
        rows |= {row.id: row for row in connection.execute(statements.INTERACTIONS, {"ids": chunk})}
    found = {}
    for interaction_id in ids:
        row = rows.get(canonical.get(interaction_id, interaction_id)) or rows.get(interaction_id)
        if row is not None:
            found[interaction_id] = StoredInteraction(
                interaction=_interaction(row.body), revision=row.revision, digest=row.digest
            )
    return found


def next_revisions(connection: Connection, digests: Mapping[str, str]) -> dict[str, tuple[int, bool]]:
    """Per id: the stored revision where the digest is the same, else the one after it; 1 for an unknown Interaction."""
    canonical = canonical_ids(connection, digests)
    stored: dict[str, tuple[int, str]] = {}
    for chunk in chunks(sorted({*digests, *canonical.values()})):
        query = select(interactions.c.id, interactions.c.revision, interactions.c.digest)
        for row in connection.execute(query.where(interactions.c.id.in_(chunk))):
            stored[row.id] = (row.revision, row.digest)
    revisions = {}
    for interaction_id, digest in digests.items():
        target = canonical.get(interaction_id, interaction_id)
        revision, known = stored.get(target) or stored.get(interaction_id) or (0, "")
        revisions[interaction_id] = (revision, False) if revision and known == digest else (revision + 1, True)
    return revisions


def known_traces(connection: Connection, trace_ids: Iterable[str]) -> set[str]:
    """Those of the traces that have an Interaction here. Ids begin with their trace's, so the primary key serves."""
    known = set()
    for trace_id in trace_ids:
        query = select(interactions.c.id).where(interactions.c.id.between(f"{trace_id}-", f"{trace_id}-~")).limit(1)
        if connection.execute(query).first() is not None:
            known.add(trace_id)
    return known


def evaluations(connection: Connection, interaction_id: str) -> tuple[EvaluationRecord, ...]:
    """All records of one Interaction, newest first."""
    target = canonical_ids(connection, [interaction_id]).get(interaction_id, interaction_id)
    query = select(records.c.body).where(records.c.canonical_id == target)
    query = query.order_by(records.c.ended_ns.desc(), records.c.revision.desc(), records.c.attempt.desc(), records.c.id)
    return tuple(_record(text) for text in connection.execute(query).scalars())


def record(connection: Connection, evaluation_id: str) -> EvaluationRecord:
    """One record. KeyError for none."""
    text = connection.execute(select(records.c.body).where(records.c.id == evaluation_id)).scalar()
    if text is None:
        raise KeyError(evaluation_id)
    return _record(text)


def matching_records(database: Database, wanted: RecordFilter, *, current: bool) -> Iterator[EvaluationRecord]:
    """Those that match, newest first; with ``current`` only the highest (revision, attempt) of each."""
    if wanted.interaction_id is not None:
        with database.reading() as connection:
            canonical = canonical_ids(connection, [wanted.interaction_id])
        wanted = wanted._replace(interaction_id=canonical.get(wanted.interaction_id, wanted.interaction_id))
    query = _current(wanted) if current else select(records).where(*_fields(wanted))
    rows = query.subquery()
    for row in _pages(database, select(rows.c.ended_ns, rows.c.id, rows.c.body).where(*_times(rows.c, wanted)), rows.c):
        yield _record(row.body)


def matching_interactions(
    database: Database, wanted: Mapping[str, str | None], since_ns: int | None, until_ns: int | None
) -> Iterator[Interaction]:
    """Those that match, latest end first; one without an end comes last, and before any bound of time."""
    ended = func.coalesce(interactions.c.ended_ns, -1).label("ended_ns")
    query = select(ended, interactions.c.id, interactions.c.body)
    rows = query.where(
        *(interactions.c[name] == value for name, value in wanted.items() if value is not None)
    ).subquery()
    bounds = RecordFilter(since_ns=since_ns, until_ns=until_ns)
    for row in _pages(database, select(rows).where(*_times(rows.c, bounds)), rows.c):
        yield _interaction(row.body)


def _current(wanted: RecordFilter) -> Select[Any]:
    rank = func.row_number().over(
        partition_by=(records.c.canonical_id, records.c.evaluator, records.c.evaluator_version),
        order_by=(records.c.revision.desc(), records.c.attempt.desc(), records.c.id),
    )
    ranked = select(records, rank.label("rank")).where(*_fields(wanted)).subquery()
    return select(ranked).where(ranked.c.rank == 1)


def _fields(wanted: RecordFilter) -> Iterator[ColumnElement[bool]]:
    values = {
        records.c.canonical_id: wanted.interaction_id,
        records.c.evaluator: wanted.evaluator,
        records.c.agent: wanted.agent,
        records.c.session: wanted.session,
        records.c.origin: wanted.origin,
    }
    return (column == value for column, value in values.items() if value is not None)


def _times(columns: Any, wanted: RecordFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.since_ns is not None:
        yield columns.ended_ns >= wanted.since_ns
    if wanted.until_ns is not None:
        yield columns.ended_ns < wanted.until_ns


def _pages(database: Database, query: Select[Any], columns: Any) -> Iterator[Row[Any]]:
    """By (ended_ns, id) from the newest on, each page from behind the last: rows that come meanwhile repeat nothing."""
    query = query.order_by(columns.ended_ns.desc(), columns.id).limit(PAGE)
    page = query
    while True:
        with database.reading() as connection:
            rows = connection.execute(page).all()
        yield from rows
        if len(rows) < PAGE:
            return
        last = rows[-1]
        behind = and_(columns.ended_ns == last.ended_ns, columns.id > last.id)
        page = query.where(or_(columns.ended_ns < last.ended_ns, behind))


def _interaction(text: str) -> Interaction:
    return interaction_json.from_json(body.load(text))


def _record(text: str) -> EvaluationRecord:
    return record_json.from_json(body.load(text))
