"""Deleting: all that was said, and all that was said of it, in every table and in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_eval.ledger import Batch, Ledger, StoredInteraction, WaitingEvaluation
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record

SECRET = "the-secret-that-was-said"
ROOT = interaction(session="s1", user_id="u1", started_ns=0, seconds=1, reply=SECRET)
CHILD = interaction(session="other", parent_id=ROOT.id, started_ns=0, seconds=3)
GRANDCHILD = interaction(session="other", parent_id=CHILD.id, started_ns=0, seconds=3)
KEPT = interaction(session="s2", user_id="u2", started_ns=0, seconds=3)
FAMILY = {ROOT.id, CHILD.id, GRANDCHILD.id}

CRITERIA = [
    {"interaction": ROOT.id},
    {"interaction": "an-alias"},
    {"session": "s1"},
    {"user": "u1"},
    {"before_ns": 2_000_000_000},
]


def fill(ledger: Ledger) -> None:
    for one in (ROOT, CHILD, GRANDCHILD, KEPT):
        waits = WaitingEvaluation(
            evaluation_id=f"w-{one.id}", interaction_id=one.id, evaluator="b", evaluator_version="1", check="judge"
        )
        stored = StoredInteraction(interaction=one, revision=1, digest="d")
        ledger.commit(Batch(interactions=(stored,), records=(evaluation_record(one),), waiting=(waits,)))
    ledger.commit(Batch(aliases={"an-alias": ROOT.id}))


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda criterion: next(iter(criterion)))
def test_an_interaction_goes_with_all_that_belongs_to_it(ledger, criterion):
    """Nested Interactions, records, waiting rows and the outbox go; everybody else's stay."""
    fill(ledger)
    deleted = ledger.delete(**criterion)
    assert (deleted.interactions, deleted.evaluations) == (3, 3)
    assert set(deleted.trace_ids) == {ROOT.trace_id, CHILD.trace_id, GRANDCHILD.trace_id}
    assert [one.id for one in ledger.interactions()] == [KEPT.id]
    assert [one.interaction_id for one in ledger.records()] == [KEPT.id]
    assert [one.interaction_id for one in ledger.waiting()] == [KEPT.id]
    assert [one.record.interaction_id for one in ledger.unexported()] == [KEPT.id]
    with pytest.raises(KeyError):
        ledger.interaction("an-alias")


def test_what_is_deleted_is_not_in_the_file_any_more(url, tmp_path):
    """Neither the database nor its log holds the words."""
    directory = tmp_path / "data"
    with Ledger.open(url) as ledger:
        fill(ledger)
        assert holds(directory, SECRET)
        ledger.delete(session="s1")
        assert not holds(directory, SECRET)


def test_records_without_their_interaction_go_too(ledger):
    """A record that an experiment stored alone has a session and a time of its own."""
    ledger.finish([evaluation_record(ROOT), evaluation_record(KEPT)])
    assert ledger.delete(session="s1").evaluations == 1
    assert [one.interaction_id for one in ledger.records()] == [KEPT.id]


@pytest.mark.parametrize("criteria", [{}, {"session": "a", "user": "b"}])
def test_deleting_takes_exactly_one_criterion(ledger, criteria):
    """None would delete everything, two would be a guess."""
    with pytest.raises(ValueError, match="exactly one of interaction, session, user, before_ns"):
        ledger.delete(**criteria)


def holds(directory: Path, text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in directory.iterdir())
