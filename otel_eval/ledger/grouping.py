"""Writes that share a transaction, put together so that they share its statements as well.

A statement costs the database's driver and SQLAlchemy as much for one row as for many, and what judging writes is many
small things: a record for each evaluation, and the bill of its model's call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection

from otel_eval.ledger.queues import add_spending, mark_exported
from otel_eval.ledger.rows import Prepared, merged
from otel_eval.ledger.write import commit


@dataclass(frozen=True, slots=True)
class Bill:
    """What one call of a judge's model cost."""

    model: str
    day: str
    usd: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Exported:
    """Entries of the outbox that the endpoint took."""

    sequences: tuple[int, ...]

    def __call__(self, connection: Connection) -> None:
        mark_exported(connection, self.sequences)


@dataclass(frozen=True, slots=True)
class Write:
    """What somebody wants written: a batch of rows, a bill, or any other change; ``future`` is told on ``loop``."""

    what: Prepared | Bill | Exported | Callable[[Connection], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop

    @property
    def stores_records(self) -> bool:
        return isinstance(self.what, Prepared) and bool(self.what.batch.records)

    @property
    def of_known(self) -> bool:
        return isinstance(self.what, Prepared) and self.what.batch.of_known

    @property
    def keeps_pace(self) -> bool:
        """Whether it had better share a transaction that comes soon than have one of its own."""
        return self.of_records_alone or isinstance(self.what, Bill | Exported)

    @property
    def of_records_alone(self) -> bool:
        """Whether it ends evaluations, and does nothing else."""
        return isinstance(self.what, Prepared) and not (
            self.what.interaction_rows or self.what.waiting_rows or self.what.batch.aliases
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One change to the database that does what several writes ask; ``share`` makes each one's result of the whole."""

    change: Callable[[Connection], Any]
    writes: tuple[Write, ...]
    share: Callable[[Any], Iterable[Any]]


def steps(group: Sequence[Write], *, outbox: bool) -> list[Step]:
    """What is to be done for the group in one transaction, in its order.

    Bills come first, added up: their order means nothing, and so none is stored later than a record behind it. Records
    that stand side by side are stored as one batch.
    """
    bills = tuple(write for write in group if isinstance(write.what, Bill))
    others = (write for write in group if not isinstance(write.what, Bill))
    made = [_billing(bills)] if bills else []
    for (together, _), run in groupby(others, lambda write: (write.of_records_alone, write.of_known)):
        writes = tuple(run)
        made += [_storing(writes, outbox)] if together else [_alone(write, outbox) for write in writes]
    return made


def _billing(writes: tuple[Write, ...]) -> Step:
    sums: dict[tuple[str, str], tuple[float, int]] = {}
    for write in writes:
        bill = write.what
        assert isinstance(bill, Bill)
        usd, tokens = sums.get((bill.model, bill.day), (0.0, 0))
        sums[bill.model, bill.day] = usd + bill.usd, tokens + bill.tokens

    def add(connection: Connection) -> None:
        for (model, day), (usd, tokens) in sums.items():
            add_spending(connection, model, day, usd, tokens)

    return Step(add, writes, lambda _: (None for _ in writes))


def _storing(writes: tuple[Write, ...], outbox: bool) -> Step:
    batches = [write.what for write in writes if isinstance(write.what, Prepared)]
    whole = batches[0] if len(batches) == 1 else merged(batches)

    def share(stored: Any) -> Iterable[Any]:
        start = 0
        for each in batches:
            end = start + len(each.batch.records)
            yield stored[start:end]
            start = end

    return Step(lambda connection: commit(connection, whole, outbox=outbox), writes, share)


def _alone(write: Write, outbox: bool) -> Step:
    what = write.what
    if isinstance(what, Prepared):
        return _storing((write,), outbox)
    assert not isinstance(what, Bill)
    return Step(what, (write,), lambda result: (result,))
