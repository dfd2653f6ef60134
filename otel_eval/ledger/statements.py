"""The statements of the pipeline's transactions, made once: building one costs twice what running it does.

``ids`` is the list that a statement is about; :func:`~otel_eval.ledger.write.chunks` keeps it short enough for SQLite.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import BindParameter, Table, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from otel_eval.ledger.schema import aliases, budget, interactions, outbox, records, storing, waiting

_IDS: BindParameter[Any] = bindparam("ids", expanding=True)

ALIASES = select(aliases.c.alias, aliases.c.interaction_id).where(aliases.c.alias.in_(_IDS))
ENDED = select(records.c.id).where(records.c.id.in_(_IDS))
SEEN = select(
    records.c.id, records.c.canonical_id, records.c.evaluator, records.c.evaluator_version,
    records.c.revision, records.c.attempt, records.c.origin, records.c.outcome,
).where(records.c.canonical_id.in_(_IDS))  # fmt: skip
"""The columns of :class:`~otel_eval.ledger.changes.Seen`, in its order."""

OF_INTERACTIONS = (
    select(interactions.c.id, interactions.c.ended_ns, interactions.c.response_id)
    .where(interactions.c.id.in_(_IDS))
    .order_by(interactions.c.id)
)
OF_INTERACTIONS_HELD = OF_INTERACTIONS.with_for_update(read=True, key_share=True)
"""The same, and what it finds is not deleted before the transaction ends (where the database locks rows)."""

INTERACTIONS = select(
    interactions.c.id, interactions.c.revision, interactions.c.digest, interactions.c.body
).where(interactions.c.id.in_(_IDS))  # fmt: skip

TAKE_NUMBERS = update(storing).values(last=storing.c.last + bindparam("count")).returning(storing.c.last)
"""So many numbers for records; the last of them comes back."""

INSERT_RECORDS = records.insert()
INSERT_OUTBOX = outbox.insert()
END_WAITING = delete(waiting).where(waiting.c.evaluation_id.in_(_IDS))
END_OLDER = delete(waiting).where(
    waiting.c.interaction_id == bindparam("b_id"), waiting.c.revision < bindparam("b_revision")
)
EXPORTED = delete(outbox).where(outbox.c.sequence.in_(_IDS))
UNEXPORTED = (
    select(outbox.c.sequence, outbox.c.interaction_ended_ns, outbox.c.response_id, records.c.body)
    .join(records, records.c.id == outbox.c.evaluation_id)
    .order_by(outbox.c.sequence)
    .limit(bindparam("limit"))
)
SPENT = select(budget.c.usd, budget.c.tokens).where(
    budget.c.model == bindparam("model"), budget.c.day == bindparam("day")
)


def insert(dialect: str, table: Table) -> Any:
    """An INSERT that can say ``on_conflict_do_…``, in that dialect."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


@cache
def upsert_interactions(dialect: str) -> Any:
    """The newest revision stays."""
    made = insert(dialect, interactions)
    return made.on_conflict_do_update(
        index_elements=[interactions.c.id],
        set_={column.name: made.excluded[column.name] for column in interactions.c if column.name != "id"},
        where=made.excluded.revision >= interactions.c.revision,
    )


@cache
def upsert_alias(dialect: str) -> Any:
    """The newest target of an alias counts."""
    made = insert(dialect, aliases)
    return made.on_conflict_do_update(
        index_elements=[aliases.c.alias], set_={"interaction_id": made.excluded.interaction_id}
    )


@cache
def upsert_waiting(dialect: str) -> Any:
    """What waits already goes on waiting as it did."""
    return insert(dialect, waiting).on_conflict_do_nothing()


@cache
def add_spending(dialect: str) -> Any:
    """What was spent grows."""
    made = insert(dialect, budget)
    return made.on_conflict_do_update(
        index_elements=[budget.c.model, budget.c.day],
        set_={"usd": budget.c.usd + made.excluded.usd, "tokens": budget.c.tokens + made.excluded.tokens},
    )
