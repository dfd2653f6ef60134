"""Deleting what was said: an Interaction with those nested in it, their records, what waits and what is to be exported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, or_, select
from sqlalchemy import delete as delete_from

from otel_eval.ledger.database import Database
from otel_eval.ledger.model import Deleted
from otel_eval.ledger.schema import aliases, interactions, outbox, records, waiting
from otel_eval.ledger.write import canonical_ids, chunks


def delete(database: Database, given: Mapping[str, Any]) -> Deleted:
    """Delete by the one criterion that is not None. Raises ValueError unless there is exactly one."""
    chosen = {name: value for name, value in given.items() if value is not None}
    if len(chosen) != 1:
        raise ValueError(f"delete by exactly one of {', '.join(given)}, not by {len(chosen)} of them")
    ((by, value),) = chosen.items()
    with database.writing() as connection:
        deleted = remove(connection, _with_nested(connection, _chosen(connection, by, value)))
        if by in ("session", "before_ns"):
            deleted = _and_orphans(connection, by, value, deleted)
    database.vacate()
    return deleted


def _chosen(connection: Connection, by: str, value: Any) -> dict[str, str]:
    """Id to trace id."""
    if by == "interaction":
        value = canonical_ids(connection, [value]).get(value, value)
    conditions = {
        "interaction": interactions.c.id == value,
        "session": interactions.c.session == value,
        "user": interactions.c.user_id == value,
        # One that never got an end is as old as its start.
        "before_ns": or_(
            interactions.c.ended_ns < value, interactions.c.ended_ns.is_(None) & (interactions.c.started_ns < value)
        ),
    }
    query = select(interactions.c.id, interactions.c.trace_id).where(conditions[by]).order_by(interactions.c.id)
    return _pairs(connection, query.with_for_update())  # before its records go: see write._forgotten


def _with_nested(connection: Connection, found: dict[str, str]) -> dict[str, str]:
    """These and all that is nested in them, however deep."""
    level = found
    while level:
        children: dict[str, str] = {}
        for chunk in chunks(list(level)):
            query = select(interactions.c.id, interactions.c.trace_id).where(interactions.c.parent_id.in_(chunk))
            children |= _pairs(connection, query.order_by(interactions.c.id).with_for_update())
        level = {child: trace_id for child, trace_id in children.items() if child not in found}
        found = found | level
    return found


def remove(connection: Connection, found: dict[str, str]) -> Deleted:
    """Delete these Interactions (id to trace id) with all that is kept of them, inside the caller's transaction."""
    evaluations = 0
    for chunk in chunks(list(found)):
        of_these = records.c.canonical_id.in_(chunk)
        known_as = [
            *chunk,
            *connection.execute(select(aliases.c.alias).where(aliases.c.interaction_id.in_(chunk))).scalars(),
        ]
        connection.execute(delete_from(outbox).where(outbox.c.evaluation_id.in_(select(records.c.id).where(of_these))))
        evaluations += connection.execute(delete_from(records).where(of_these)).rowcount
        connection.execute(delete_from(waiting).where(waiting.c.interaction_id.in_(known_as)))
        connection.execute(delete_from(aliases).where(aliases.c.interaction_id.in_(chunk)))
        connection.execute(delete_from(interactions).where(interactions.c.id.in_(chunk)))
    return Deleted(interactions=len(found), evaluations=evaluations, trace_ids=tuple(sorted(set(found.values()))))


def _and_orphans(connection: Connection, by: str, value: Any, deleted: Deleted) -> Deleted:
    """Records whose Interaction is not here (stored by an experiment, say) go by their own session or end."""
    known = select(interactions.c.id).where(interactions.c.id == records.c.canonical_id).exists()
    mine = records.c.session == value if by == "session" else records.c.ended_ns < value
    orphans = select(records.c.id).where(mine, ~known)
    connection.execute(delete_from(outbox).where(outbox.c.evaluation_id.in_(orphans)))
    count = connection.execute(delete_from(records).where(records.c.id.in_(orphans))).rowcount
    return Deleted(
        interactions=deleted.interactions, evaluations=deleted.evaluations + count, trace_ids=deleted.trace_ids
    )


def _pairs(connection: Connection, query: Select[tuple[str, str]]) -> dict[str, str]:
    return {row.id: row.trace_id for row in connection.execute(query)}
