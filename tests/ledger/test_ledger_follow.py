"""Following the ledger: every record that is current when it is looked at, once, in the order of storing."""

from __future__ import annotations

import shutil
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from otel_eval.ledger import Batch, Ledger, Place, StoredInteraction, WaitingEvaluation
from otel_eval.record import Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record


def follow(ledger: Ledger, after: int, **wanted: object) -> tuple[list[str], int]:
    """The evaluators of the records behind that number, and how far that came."""
    arrivals = ledger.arrivals(after, **wanted)
    return [record.evaluator for _, record in arrivals.records], arrivals.reached.sequence


def back_to_format_1(ledger: Ledger) -> None:
    """The ledger as the version before left it."""
    for statement in (
        "DROP INDEX records_in_order",
        "ALTER TABLE records DROP COLUMN sequence",
        "DROP TABLE storing",
        "DROP TABLE former",
        "UPDATE ledger_format SET version = 1",
    ):
        ledger.write(lambda connection, statement=statement: connection.execute(text(statement)))


def test_records_come_in_the_order_of_storing_whenever_they_ended(ledger):
    """One that ended earlier than what was seen already, but is stored later, is not passed over."""
    one = interaction()
    ledger.finish([evaluation_record(one, "late", started_ns=9)])
    seen, after = follow(ledger, 0)
    ledger.finish([evaluation_record(one, "early", started_ns=1)])
    assert (seen, follow(ledger, after)[0]) == (["late"], ["early"])
    assert follow(ledger, follow(ledger, after)[1])[0] == []


def test_a_record_that_was_replaced_meanwhile_is_not_told(ledger):
    """What is current is; who looked before has seen the one before."""
    one = interaction()
    ledger.finish([evaluation_record(one, attempt=0)])
    ledger.finish([evaluation_record(one, attempt=1, origin=Origin.RERUN)])
    assert [record.attempt for _, record in ledger.arrivals(0).records] == [1]
    ledger.finish([evaluation_record(one, revision=2)])
    ledger.finish([evaluation_record(one, revision=1, attempt=2, origin=Origin.RERUN)])
    assert [record.revision for _, record in ledger.arrivals(0).records] == [2]


def test_filters_pass_over_and_go_on(ledger):
    """Also by an alias, under which a record was stored; what does not match is not looked at again."""
    old, new = interaction(agent="a"), interaction(agent="b")
    ledger.finish([evaluation_record(old, "x"), evaluation_record(new, "y"), evaluation_record(new, "x")])
    ledger.commit(
        Batch(interactions=(StoredInteraction(interaction=new, revision=1, digest="d"),), aliases={old.id: new.id})
    )
    assert follow(ledger, 0, agent="a") == (["x"], ledger.place().sequence)
    assert follow(ledger, 0, evaluator="y")[0] == ["y"]
    assert len(follow(ledger, 0, interaction_id=old.id)[0]) == 3
    assert follow(ledger, 0, agent="nobody") == ([], ledger.place().sequence)


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), max_size=8), st.integers(1, 3))
def test_page_by_page_nothing_is_missed_and_nothing_comes_twice(commits, limit):
    """Whatever the pages and transactions, and though some are stored again: each once."""
    ones = [interaction() for _ in range(6)]
    seen: list[str] = []
    with Ledger.open("sqlite://") as ledger:
        after = 0
        for commit in commits:
            ledger.finish([evaluation_record(ones[number], f"e{number}") for number in commit])
            found, after = follow(ledger, after, limit=limit)
            seen += found
        while (arrivals := ledger.arrivals(after, limit=limit)).records:
            seen += [record.evaluator for _, record in arrivals.records]
            after = arrivals.reached.sequence
    assert sorted(seen) == sorted({f"e{number}" for commit in commits for number in commit})


def test_a_number_is_not_given_twice_though_its_record_is_deleted(ledger):
    """Whoever has seen the deleted one would miss the next one otherwise."""
    one, two = interaction(), interaction()
    ledger.commit(Batch(interactions=(StoredInteraction(interaction=one, revision=1, digest="d"),)))
    ledger.finish([evaluation_record(one, "a")])
    _, after = follow(ledger, 0)
    ledger.delete(interaction=one.id)
    ledger.finish([evaluation_record(two, "b")])
    assert follow(ledger, after)[0] == ["b"]


def test_an_older_ledger_is_followed_from_now_on(url):
    """What it holds stays as it is; it gets an identity of its own, so that a place in another ledger is recognised."""
    with Ledger.open(url) as ledger:
        one = interaction()
        ledger.finish([evaluation_record(one, "old")])
        identity = ledger.place().identity
        back_to_format_1(ledger)
    with Ledger.open(url) as ledger:
        assert ledger.place().sequence == 0
        assert ledger.place().identity != identity
        ledger.finish([evaluation_record(one, "new")])
        assert follow(ledger, 0)[0] == ["new"]
        assert {record.evaluator for record in ledger.records()} == {"old", "new"}


def test_a_place_holds_across_openings_and_deletions(url):
    """Each time that it is opened to write it has a new identity, and knows those that it had; reading changes nothing."""
    one = interaction()
    with Ledger.open(url) as ledger:
        ledger.commit(Batch(interactions=(StoredInteraction(interaction=one, revision=1, digest="d"),)))
        ledger.finish([evaluation_record(one)])
        first = ledger.place()
        ledger.delete(interaction=one.id)
    for _ in range(2):
        with Ledger.open(url) as ledger:
            now = ledger.place()
            assert (now.identity == first.identity, ledger.place_now(first)) == (False, now)
            assert ledger.place_now(Place(first.identity, 0)) == Place(now.identity, 0)
            assert ledger.place_now(Place(now.identity, 1)) == now
            for never in (Place(first.identity, 2), Place(now.identity, 2), Place(now.identity, -1), Place("x", 1)):
                assert ledger.place_now(never) is None
        with Ledger.open(url, create=False) as reader:
            assert reader.place() == now


def test_a_place_that_a_restore_took_back_is_told(url, tmp_path):
    """Also once the ledger has come as far again, whoever wrote to it first; what the backup has is still a place."""
    file = Path(url.removeprefix("sqlite:///"))
    with Ledger.open(url) as ledger:
        ledger.finish([evaluation_record(interaction())])
        before = ledger.place()
    shutil.copy(file, tmp_path / "backup.db")
    with Ledger.open(url) as ledger:
        ledger.finish([evaluation_record(interaction())])
        lost = ledger.place()
        went_on = Place(before.identity, 1)
    shutil.copy(tmp_path / "backup.db", file)
    for _ in range(2):
        with Ledger.open(url) as ledger:
            ledger.finish([evaluation_record(interaction()) for _ in range(3)])
            assert ledger.place_now(lost) is None
            assert ledger.place_now(went_on) == Place(ledger.place().identity, 1)


def test_a_place_that_was_given_out_after_the_backup_was_made_is_told(url, tmp_path):
    """Of the same opening as the backup, which was made while it was written to."""
    file = Path(url.removeprefix("sqlite:///"))
    with Ledger.open(url) as ledger:
        ledger.finish([evaluation_record(interaction())])
        kept = ledger.place()
        ledger.vacate()
        shutil.copy(file, tmp_path / "backup.db")
        ledger.finish([evaluation_record(interaction())])
        lost = ledger.place()
    assert lost.identity == kept.identity
    shutil.copy(tmp_path / "backup.db", file)
    with Ledger.open(url) as ledger:
        ledger.finish([evaluation_record(interaction()) for _ in range(3)])
        assert ledger.place_now(lost) is None
        assert ledger.place_now(kept) == Place(ledger.place().identity, 1)


def test_standings_tell_the_next_attempt(ledger):
    """Of the stored revision and per version, through an alias; an unknown Interaction has none."""
    old, new = interaction(), interaction()
    ledger.commit(
        Batch(interactions=(StoredInteraction(interaction=new, revision=3, digest="d"),), aliases={old.id: new.id})
    )
    ledger.finish([evaluation_record(new, "e", attempt=2), evaluation_record(new, "e", evaluator_version="2")])
    found = ledger.standings([old.id, "unknown"])
    assert list(found) == [old.id]
    assert (found[old.id].interaction_id, found[old.id].revision) == (new.id, 3)
    assert found[old.id].attempts == {("e", "1"): 2, ("e", "2"): 0}


def test_pages_begin_behind_what_was_seen(ledger):
    """Of Interactions and of records; one without an end is the last."""
    ones = [interaction(started_ns=n, seconds=0) for n in (3, 2, 2)] + [interaction(ended_ns=None)]
    ledger.commit(
        Batch(
            interactions=tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in ones),
            records=tuple(evaluation_record(one, started_ns=1) for one in ones),
        )
    )
    whole = list(ledger.interactions())
    assert whole[-1] == ones[-1]
    for number, one in enumerate(whole):
        ended = -1 if one.ended_ns is None else one.ended_ns
        assert list(ledger.interactions(after=(ended, one.id), page=1)) == whole[number + 1 :]
    assert ledger.interaction_ids(limit=2) == tuple(one.id for one in whole[:2])
    records = list(ledger.records())
    assert list(ledger.current(after=(records[1].ended_ns, records[1].id), page=1)) == records[2:]


def test_which_have_ended_and_which_wait(ledger):
    """By their ids; an id that is in neither is unknown, or was let go."""
    record = evaluation_record(interaction())
    waiting = WaitingEvaluation(
        evaluation_id="w", interaction_id="i", evaluator="e", evaluator_version="1", check="judge"
    )
    ledger.commit(Batch(records=(record,), waiting=(waiting,)))
    assert ledger.ended([record.id, "w", "x"]) == (record,)
    assert ledger.waiting_among([record.id, "w", "x"]) == {"w"}
