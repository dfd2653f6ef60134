"""Reading the ledger. Iterators read page by page, so that a long listing holds no transaction open."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Subquery,
    and_,
    exists,
    func,
    literal,
    or_,
    select,
    tuple_,
)

from otel_eval import interaction_json, record_json
from otel_eval.interaction import Interaction
from otel_eval.ledger import body, statements
from otel_eval.ledger.database import Database
from otel_eval.ledger.model import NO_END, Standing, StoredInteraction
from otel_eval.ledger.schema import aliases, interactions, records
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


def aliases_of(connection: Connection, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The other ids that were handed out for an Interaction before, in order; those without any are left out."""
    found: dict[str, tuple[str, ...]] = {}
    for chunk in chunks(sorted(set(ids))):
        query = select(aliases.c.interaction_id, aliases.c.alias).where(aliases.c.interaction_id.in_(chunk))
        for row in connection.execute(query.order_by(aliases.c.alias)):
            found[row.interaction_id] = (*found.get(row.interaction_id, ()), row.alias)
    return found


def told_of(connection: Connection, trace_ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """The Interactions of these traces that are here, with their digests; traces without any are left out.

    Ids begin with their trace's, so the primary key serves. What follows are hex digits: by every database's rules, of a
    language's too, they come before a ``g``.
    """
    found = {}
    for trace_id in trace_ids:
        query = select(interactions.c.id, interactions.c.digest)
        rows = connection.execute(query.where(interactions.c.id.between(f"{trace_id}-", f"{trace_id}-g"))).all()
        if rows:
            found[trace_id] = {row.id: row.digest for row in rows}
    return found


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


def records_by_id(connection: Connection, ids: Collection[str]) -> tuple[EvaluationRecord, ...]:
    """Those of the evaluations that have ended, by id."""
    query = select(records.c.body).order_by(records.c.id)
    return tuple(
        _record(text)
        for chunk in chunks(sorted(set(ids)))
        for text in connection.execute(query.where(records.c.id.in_(chunk))).scalars()
    )


def standings(connection: Connection, ids: Collection[str]) -> dict[str, Standing]:
    """How far each of these Interactions has come, by the id that was asked for; unknown ones are left out."""
    canonical = canonical_ids(connection, ids)
    revisions: dict[str, int] = {}
    attempts: dict[str, dict[tuple[str, str], int]] = {}
    for chunk in chunks(sorted({*ids, *canonical.values()})):
        query = select(interactions.c.id, interactions.c.revision).where(interactions.c.id.in_(chunk))
        revisions |= {row.id: row.revision for row in connection.execute(query)}
        for row in connection.execute(statements.SEEN, {"ids": chunk}):
            of_one = attempts.setdefault(row.canonical_id, {})
            key = (row.evaluator, row.evaluator_version)
            of_one[key] = max(row.attempt, of_one.get(key, 0))
    found = {}
    for asked in ids:
        stored = next((name for name in (canonical.get(asked, asked), asked) if name in revisions), None)
        if stored is not None:
            found[asked] = Standing(
                interaction_id=stored,
                revision=revisions[stored],
                attempts=attempts.get(canonical.get(asked, asked), {}),
            )
    return found


def matching_records(
    database: Database,
    wanted: RecordFilter,
    *,
    current: bool,
    after: tuple[int, str] | None = None,
    page: int = PAGE,
) -> Iterator[EvaluationRecord]:
    """Those that match, newest first; with ``current`` only the highest (revision, attempt) of each."""
    with database.reading() as connection:
        wanted = of_canonical(connection, wanted)
    query = _current(wanted) if current else select(records).where(*fields(wanted))
    rows = query.subquery()
    bodies = select(rows.c.ended_ns, rows.c.id, rows.c.body).where(*_times(rows.c, wanted))
    for row in _pages(database, bodies, rows.c, after, page):
        yield _record(row.body)


def matching_interactions(
    database: Database,
    wanted: Mapping[str, str | None],
    since_ns: int | None,
    until_ns: int | None,
    *,
    after: tuple[int, str] | None = None,
    page: int = PAGE,
) -> Iterator[Interaction]:
    """Those that match, latest end first; one without an end comes last, and before any bound of time.

    ``after`` a place in that order: one without an end has ``NO_END`` for it.
    """
    columns = interactions.c
    chosen = _chosen(wanted)
    # Two queries, so that either goes by the index of ends: sorting all with their bodies for each page took minutes.
    if after is None or after[0] != NO_END:
        times = _times(columns, RecordFilter(since_ns=since_ns, until_ns=until_ns))
        ended = select(columns.ended_ns, columns.id, columns.body)
        ended = ended.where(columns.ended_ns.is_not(None), *chosen, *times)
        for row in _pages(database, ended, columns, after, page):
            yield _interaction(row.body)
        after = None
    if since_ns is None:
        endless = select(literal(NO_END).label("ended_ns"), columns.id, columns.body)
        rows = endless.where(columns.ended_ns.is_(None), *chosen).subquery()
        for row in _pages(database, select(rows), rows.c, after, page):
            yield _interaction(row.body)


def interaction_ids(
    connection: Connection, wanted: Mapping[str, str | None], since_ns: int | None, until_ns: int | None, limit: int
) -> tuple[str, ...]:
    """The ids of the first ``limit`` of them, in the same order."""
    rows = _interactions(wanted)
    query = select(rows.c.id).where(*_times(rows.c, RecordFilter(since_ns=since_ns, until_ns=until_ns)))
    return tuple(connection.execute(query.order_by(rows.c.ended_ns.desc(), rows.c.id).limit(limit)).scalars())


def of_canonical(connection: Connection, wanted: RecordFilter) -> RecordFilter:
    """The same, with the id that an alias of an Interaction means now."""
    asked = wanted.interaction_id
    if asked is None:
        return wanted
    return wanted._replace(interaction_id=canonical_ids(connection, [asked]).get(asked, asked))


def _interactions(wanted: Mapping[str, str | None]) -> Subquery:
    ended = func.coalesce(interactions.c.ended_ns, NO_END).label("ended_ns")
    query = select(ended, interactions.c.id, interactions.c.body)
    return query.where(*_chosen(wanted)).subquery()


def _chosen(wanted: Mapping[str, str | None]) -> list[ColumnElement[bool]]:
    return [interactions.c[name] == value for name, value in wanted.items() if value is not None]


def _current(wanted: RecordFilter) -> Select[Any]:
    """Each that no other of its evaluator and version, on its Interaction, comes after.

    By the index of one Interaction's records, so that a page costs what it holds: ranking all of them for each page took
    a ledger of 60,000 records a minute to read.
    """
    mine, other = records.c, records.alias().c
    ours, theirs = (tuple_(each.revision, each.attempt, each.ended_ns) for each in (mine, other))
    later = or_(theirs > ours, and_(theirs == ours, other.id < mine.id))
    rivals = exists().where(
        other.canonical_id == mine.canonical_id,
        other.evaluator == mine.evaluator,
        other.evaluator_version == mine.evaluator_version,
        later,
        *fields(wanted, other),
    )
    return select(records).where(*fields(wanted), ~rivals)


def fields(wanted: RecordFilter, columns: Any = records.c) -> Iterator[ColumnElement[bool]]:
    """What a record's columns must be, beside its times."""
    values = {
        columns.canonical_id: wanted.interaction_id,
        columns.evaluator: wanted.evaluator,
        columns.agent: wanted.agent,
        columns.session: wanted.session,
        columns.origin: wanted.origin,
    }
    return (column == value for column, value in values.items() if value is not None)


def _times(columns: Any, wanted: RecordFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.since_ns is not None:
        yield columns.ended_ns >= wanted.since_ns
    if wanted.until_ns is not None:
        yield columns.ended_ns < wanted.until_ns


def _pages(
    database: Database, query: Select[Any], columns: Any, after: tuple[int, str] | None, page: int
) -> Iterator[Row[Any]]:
    """By (ended_ns, id) from the newest on, or from behind ``after``; each page from behind the last: rows that come
    meanwhile repeat nothing."""
    query = query.order_by(columns.ended_ns.desc(), columns.id).limit(page)
    while True:
        with database.reading() as connection:
            rows = connection.execute(query if after is None else query.where(_behind(columns, *after))).all()
        yield from rows
        if len(rows) < page:
            return
        after = (rows[-1].ended_ns, rows[-1].id)


def _behind(columns: Any, ended_ns: int, id: str) -> ColumnElement[bool]:
    # Not as one or the other, for which SQLite would leave the index of ends.
    return and_(columns.ended_ns <= ended_ns, or_(columns.ended_ns < ended_ns, columns.id > id))


def _interaction(text: str) -> Interaction:
    return interaction_json.from_json(body.load(text))


def _record(text: str) -> EvaluationRecord:
    return record_json.from_json(body.load(text))
