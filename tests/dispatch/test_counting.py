"""What storing records adds to our own metrics."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from otel_eval.dispatch.counting import count_stored
from otel_eval.ledger import Change, Stored
from otel_eval.outcome import Failed
from otel_eval.record import JudgeCall
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record


class Sums:
    """A recorder that adds up, by name."""

    def __init__(self) -> None:
        self.of: dict[str, float] = {}

    def record(
        self,
        name: str,
        amount: float = 1,
        labels: Mapping[str, str] | None = None,
        *,
        judged: tuple[str, str] | None = None,
    ) -> None:
        self.of[name] = self.of.get(name, 0) + amount


@pytest.mark.parametrize(
    ("change", "evaluations", "cost"),
    [
        (Change.NEW, 1, 0.25),
        (Change.REVISED, 0, 0.25),
        (Change.CONFIRMED, 0, 0.25),
        (Change.STALE, 0, 0.25),
        (Change.FORGOTTEN, 0, 0.25),
        (Change.DUPLICATE, 0, 0),
    ],
)
def test_what_was_spent_counts_whether_or_not_the_verdict_does(change: Change, evaluations: int, cost: float) -> None:
    """An evaluation counts once, at its first verdict; the judge was paid for the others as well."""
    calls = tuple(
        JudgeCall(conversation_id="e-judge", requested_model="p/one", started_ns=1, ended_ns=2, cost_usd=price)
        for price in (0.125, None, 0.125)
    )
    record = evaluation_record(interaction(), outcome=Failed("no"), judge_calls=calls)
    sums = Sums()
    count_stored(sums, [Stored(record=record, change=change, previous="passed")])
    assert sums.of.get("otel_eval.evaluations", 0) == evaluations
    assert sums.of.get("otel_eval.evaluation.cost", 0) == cost
