"""Letting go of what is older than it is to be kept: a little at a time, and never of what is not done with.

An Interaction goes with all that is nested in it, once all of it ended long enough ago, the last record of it is as old,
none of it waits to be judged, and none of its verdicts waits to be exported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, Select, func, select, tuple_
from sqlalchemy import delete as delete_from

from otel_eval.ledger.delete import remove
from otel_eval.ledger.model import Deleted, Expired
from otel_eval.ledger.schema import aliases, interactions, outbox, records, waiting
from otel_eval.ledger.write import chunks

Cursor: TypeAlias = tuple[int, str]
"""When the last one that was looked at ended, and its id."""

LIMIT = 100
"""Interactions that one transaction looks at, those nested in them not counted."""


def expire(
    connection: Connection, before_ns: int, *, after: Cursor | None, exporting: bool, limit: int = LIMIT
) -> Expired:
    """One step over what ended before that time (Unix epoch), from ``after`` on.

    ``exporting``: verdicts are exported, so that those in the outbox will be; else they wait for nobody.
    """
    ended = _ended(connection, before_ns, after, limit)
    roots = [*ended, *(_never_ended(connection, before_ns, limit) if after is None else ())]
    found, root_of = _families(connection, roots)
    held = {root_of[each] for each in _not_done_with(connection, list(found), before_ns, exporting)}
    gone = {each: trace_id for each, trace_id in found.items() if root_of[each] not in held}
    deleted = remove(connection, gone)
    if len(ended) == limit:
        return Expired(deleted=deleted, kept=len(found) - len(gone), after=(ended[-1].ended_ns, ended[-1].id))
    orphans = _orphans(connection, before_ns, exporting, limit)
    return Expired(
        deleted=Deleted(
            interactions=deleted.interactions,
            evaluations=deleted.evaluations + orphans,
            trace_ids=deleted.trace_ids,
        ),
        kept=len(found) - len(gone),
        after=(before_ns, "") if orphans == limit else None,
    )


def _ended(connection: Connection, before_ns: int, after: Cursor | None, limit: int) -> Sequence[Row[Any]]:
    query = _roots().where(interactions.c.ended_ns < before_ns)
    if after is not None:
        query = query.where(tuple_(interactions.c.ended_ns, interactions.c.id) > after)
    return connection.execute(query.order_by(interactions.c.ended_ns, interactions.c.id).limit(limit)).all()


def _never_ended(connection: Connection, before_ns: int, limit: int) -> Sequence[Row[Any]]:
    """Interactions without an end, whose age is counted from their start."""
    query = _roots().where(interactions.c.ended_ns.is_(None), interactions.c.started_ns < before_ns)
    return connection.execute(query.order_by(interactions.c.id).limit(limit)).all()


def _roots() -> Select[Any]:
    """Interactions that are nested in none that is here, locked: who judges them meanwhile waits, or they are passed over."""
    parents = interactions.alias()
    nested = select(parents.c.id).where(parents.c.id == interactions.c.parent_id).exists()
    query = select(interactions.c.id, interactions.c.trace_id, interactions.c.ended_ns).where(~nested)
    return query.with_for_update(skip_locked=True, of=interactions)


def _families(connection: Connection, roots: Sequence[Row[Any]]) -> tuple[dict[str, str], dict[str, str]]:
    """These with all that is nested in them, however deep: id to trace id, and id to the root's id."""
    found = {row.id: row.trace_id for row in roots}
    root_of = {row.id: row.id for row in roots}
    level = list(found)
    while level:
        below: list[str] = []
        for chunk in chunks(level):
            query = select(interactions.c.id, interactions.c.trace_id, interactions.c.parent_id)
            query = query.where(interactions.c.parent_id.in_(chunk)).order_by(interactions.c.id)
            for row in connection.execute(query.with_for_update()):
                if row.id not in found:
                    found[row.id], root_of[row.id] = row.trace_id, root_of[row.parent_id]
                    below.append(row.id)
        level = below
    return found, root_of


def _not_done_with(connection: Connection, ids: Sequence[str], before_ns: int, exporting: bool) -> set[str]:
    """Those that are younger, were judged since, wait to be judged, or have verdicts that wait to be exported."""
    own = interactions.c.id
    of_record = records.c.canonical_id
    still: set[str] = set()
    for chunk in chunks(ids):
        ended_ns = func.coalesce(interactions.c.ended_ns, interactions.c.started_ns)
        queries: list[Select[Any]] = [
            select(own).where(own.in_(chunk), ended_ns >= before_ns),
            select(of_record).where(of_record.in_(chunk), records.c.ended_ns >= before_ns),
            select(waiting.c.interaction_id).where(waiting.c.interaction_id.in_(chunk)),
            select(aliases.c.interaction_id)
            .join(waiting, waiting.c.interaction_id == aliases.c.alias)
            .where(aliases.c.interaction_id.in_(chunk)),
        ]
        if exporting:
            queries.append(
                select(of_record).join(outbox, outbox.c.evaluation_id == records.c.id).where(of_record.in_(chunk))
            )
        for query in queries:
            still.update(connection.execute(query).scalars())
    return still


def _orphans(connection: Connection, before_ns: int, exporting: bool, limit: int) -> int:
    """Records whose Interaction is not here (stored by an experiment, say) go by their own end; how many went."""
    known = select(interactions.c.id).where(interactions.c.id == records.c.canonical_id).exists()
    query = select(records.c.id).where(records.c.ended_ns < before_ns, ~known)
    if exporting:
        query = query.where(~select(outbox.c.sequence).where(outbox.c.evaluation_id == records.c.id).exists())
    ids = connection.execute(query.order_by(records.c.ended_ns, records.c.id).limit(limit)).scalars().all()
    if ids:
        connection.execute(delete_from(outbox).where(outbox.c.evaluation_id.in_(ids)))
        connection.execute(delete_from(records).where(records.c.id.in_(ids)))
    return len(ids)
