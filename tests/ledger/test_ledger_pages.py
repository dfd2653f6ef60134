"""Reading a ledger page by page costs what is read, however much it holds."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from otel_eval.ledger import Batch, Ledger, StoredInteraction
from otel_eval.record import Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record


@pytest.fixture
def full(ledger: Ledger) -> Ledger:
    """Interactions with two records each, and one without an end."""
    shown = [interaction(started_ns=1_000_000_000 * number) for number in range(1, 9)]
    endless = interaction(ended_ns=None)
    ledger.commit(
        Batch(
            interactions=tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in (*shown, endless)),
            records=tuple(evaluation_record(one, evaluator) for one in shown for evaluator in ("a", "b")),
        )
    )
    return ledger


@pytest.mark.parametrize("of", ["records", "interactions"])
def test_each_page_goes_by_the_index_of_ends(full: Ledger, of: str) -> None:
    """A sort of all that there is, for each page, took a ledger of 60,000 records minutes to read."""
    asked: list[tuple[str, tuple[object, ...]]] = []
    engine = full._database._engine

    def seen(connection, cursor, statement, parameters, context, many):  # type: ignore[no-untyped-def]
        if "LIMIT" in statement:
            asked.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", seen)
    found = list(full.current(origin=Origin.LIVE, page=3) if of == "records" else full.interactions(page=3))
    event.remove(engine, "before_cursor_execute", seen)
    assert len(found) == (16 if of == "records" else 9)
    assert len({each.id for each in found}) == len(found)
    assert len(asked) >= 3
    with engine.connect() as connection:
        for statement, parameters in asked:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            (first, *_) = [row for row in plan if f" {of} " in f"{row[3]} "]
            assert f"USING INDEX {of}_by_end" in first[3]
