"""The lists that something works off: evaluations that wait, records to be exported; and what judges spent."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, delete, func, select, tuple_, update

from otel_eval import record_json
from otel_eval.ledger import body, statements
from otel_eval.ledger.model import Backlog, OutboxEntry, Spending, WaitingEvaluation
from otel_eval.ledger.schema import outbox
from otel_eval.ledger.schema import waiting as waiting_table
from otel_eval.ledger.write import chunks
from otel_eval.record import Origin


def waiting(
    connection: Connection,
    limit: int,
    after: tuple[int, str] | None,
    due_ns: int | None,
    evaluators: Collection[str] | None = None,
    interaction_id: str | None = None,
) -> tuple[WaitingEvaluation, ...]:
    """The next ones by (enqueued_ns, evaluation_id)."""
    columns = waiting_table.c
    query = select(waiting_table).order_by(columns.enqueued_ns, columns.evaluation_id).limit(limit)
    if after is not None:
        query = query.where(tuple_(columns.enqueued_ns, columns.evaluation_id) > after)
    if due_ns is not None:
        query = query.where(columns.not_before_ns <= due_ns)
    if evaluators is not None:
        query = query.where(columns.evaluator.in_(evaluators))
    if interaction_id is not None:
        query = query.where(columns.interaction_id == interaction_id)
    return tuple(
        WaitingEvaluation(
            evaluation_id=row.evaluation_id,
            interaction_id=row.interaction_id,
            evaluator=row.evaluator,
            evaluator_version=row.evaluator_version,
            check=row.check,
            revision=row.revision,
            attempt=row.attempt,
            origin=Origin(row.origin),
            enqueued_ns=row.enqueued_ns,
            not_before_ns=row.not_before_ns,
        )
        for row in connection.execute(query)
    )


def waiting_among(connection: Connection, evaluation_ids: Sequence[str]) -> frozenset[str]:
    """Those that are on the list."""
    query = select(waiting_table.c.evaluation_id)
    return frozenset(
        found
        for chunk in chunks(evaluation_ids)
        for found in connection.execute(query.where(waiting_table.c.evaluation_id.in_(chunk))).scalars()
    )


def backlog(connection: Connection) -> Backlog:
    """Count and age of what waits."""
    row = connection.execute(
        select(func.count(), func.min(waiting_table.c.enqueued_ns)).select_from(waiting_table)
    ).one()
    return Backlog(count=row[0], oldest_ns=row[1])


def postpone(connection: Connection, evaluation_ids: Sequence[str], not_before_ns: int) -> None:
    """Hold them back."""
    for chunk in chunks(evaluation_ids):
        change = update(waiting_table).where(waiting_table.c.evaluation_id.in_(chunk))
        connection.execute(change.values(not_before_ns=not_before_ns))


def discard(connection: Connection, evaluation_ids: Sequence[str]) -> None:
    """Take them off the list."""
    for chunk in chunks(evaluation_ids):
        connection.execute(delete(waiting_table).where(waiting_table.c.evaluation_id.in_(chunk)))


def unexported(connection: Connection, limit: int) -> tuple[OutboxEntry, ...]:
    """The longest-waiting ones, in the order they were stored."""
    return tuple(
        OutboxEntry(
            sequence=row.sequence,
            record=record_json.from_json(body.load(row.body)),
            interaction_ended_ns=row.interaction_ended_ns,
            response_id=row.response_id,
        )
        for row in connection.execute(statements.UNEXPORTED, {"limit": limit})
    )


def mark_exported(connection: Connection, sequences: Sequence[int]) -> None:
    """They are out: the outbox forgets them."""
    for chunk in chunks(sequences):
        connection.execute(statements.EXPORTED, {"ids": chunk})


def outbox_size(connection: Connection) -> int:
    """How many wait for export."""
    return connection.execute(select(func.count()).select_from(outbox)).scalar_one()


def spent(connection: Connection, model: str, day: str) -> Spending:
    """US dollars and tokens."""
    row = connection.execute(statements.SPENT, {"model": model, "day": day}).first()
    return Spending() if row is None else Spending(row.usd, row.tokens)


def add_spending(connection: Connection, model: str, day: str, usd: float, tokens: int) -> None:
    """One more call's cost."""
    spending = {"model": model, "day": day, "usd": usd, "tokens": tokens}
    connection.execute(statements.add_spending(connection.dialect.name), spending)
