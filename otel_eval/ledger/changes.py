"""What storing a record changes: whether it is counted, and as what. Pure, so that any order can be tried in a test."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

from otel_eval.ledger.model import Change, Stored
from otel_eval.record import EvaluationRecord, Origin

Key: TypeAlias = tuple[str, str, str]


class Seen(NamedTuple):
    """What is looked at of a record that is stored already."""

    id: str
    canonical_id: str
    evaluator: str
    evaluator_version: str
    revision: int
    attempt: int
    origin: str
    outcome: str

    @property
    def key(self) -> Key:
        return (self.canonical_id, self.evaluator, self.evaluator_version)

    @property
    def rank(self) -> tuple[int, int]:
        return (self.revision, self.attempt)


def classify(
    seen: Sequence[Seen],
    records: Sequence[EvaluationRecord],
    canonical: Sequence[str],
    forgotten: Collection[str] = (),
) -> tuple[tuple[Stored, ...], list[int]]:
    """What becomes of each record, given those stored before; and the indexes of those that are to be inserted.

    ``canonical`` has each record's Interaction id after aliases, ``forgotten`` those of them that are not there. Only
    live records are compared with one another: a re-run is always new, and never makes a live one stale.
    """
    known = {one.id for one in seen}
    newest: dict[Key, Seen] = {}
    for one in seen:
        if one.origin == Origin.LIVE:
            _keep_newest(newest, one)
    stored, fresh = [], []
    for index, (record, canonical_id) in enumerate(zip(records, canonical, strict=True)):
        if record.id in known:
            stored.append(Stored(record=record, change=Change.DUPLICATE))
            continue
        if canonical_id in forgotten:
            stored.append(Stored(record=record, change=Change.FORGOTTEN))
            continue
        known.add(record.id)
        fresh.append(index)
        one = _seen(record, canonical_id)
        stored.append(_compared(record, one, newest.get(one.key)))
        if record.origin == Origin.LIVE:
            _keep_newest(newest, one)
    return tuple(stored), fresh


def _compared(record: EvaluationRecord, one: Seen, before: Seen | None) -> Stored:
    if before is None or record.origin != Origin.LIVE:
        return Stored(record=record, change=Change.NEW)
    if before.rank > one.rank:
        return Stored(record=record, change=Change.STALE)
    change = Change.CONFIRMED if before.outcome == one.outcome else Change.REVISED
    return Stored(record=record, change=change, previous=before.outcome)


def _keep_newest(newest: dict[Key, Seen], one: Seen) -> None:
    before = newest.get(one.key)
    if before is None or one.rank > before.rank:
        newest[one.key] = one


def _seen(record: EvaluationRecord, canonical_id: str) -> Seen:
    return Seen(
        record.id,
        canonical_id,
        record.evaluator,
        record.evaluator_version,
        record.revision,
        record.attempt,
        record.origin.value,
        record.outcome.name,
    )
