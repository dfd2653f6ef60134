"""What the ledger keeps, and how it is found again."""

from __future__ import annotations

import secrets

import pytest

from otel_eval.interaction import Failure, ModelCall
from otel_eval.ledger import Batch, Change, Ledger, StoredInteraction, WaitingEvaluation
from otel_eval.outcome import Errored, Failed, Inconclusive, Passed
from otel_eval.record import JudgeCall, Origin
from otel_eval.testing.interactions import interaction, tool_call
from otel_eval.testing.records import evaluation_record


def stored(one, revision=1, digest="d1"):
    return StoredInteraction(interaction=one, revision=revision, digest=digest)


def test_an_interaction_comes_back_as_it_was(ledger):
    """Nothing of an Interaction is lost, integers beyond 64 bits and lone surrogates included."""
    one = interaction(
        tool_calls=[tool_call("pay", {"cents": 2**70, "note": "\ud800"}, None, error="declined")],
        failure=Failure(type="Timeout", message="after 30 s"),
        agent="caf\u00e9",
    )
    ledger.commit(Batch(interactions=(stored(one),)))
    assert ledger.interaction(one.id) == one


def test_a_time_beyond_63_bits_is_kept(ledger):
    """OTLP times are unsigned; one that no column holds neither fails the batch nor changes."""
    one = interaction(started_ns=2**64 - 2_000_000_000, seconds=1.0)
    ledger.commit(Batch(interactions=(stored(one),)))
    assert ledger.interaction(one.id) == one


def test_an_unknown_interaction_is_a_key_error(ledger):
    """There is no empty Interaction."""
    with pytest.raises(KeyError):
        ledger.interaction("0" * 32 + "-" + "0" * 16)


def test_a_newer_revision_replaces_an_older_one_in_either_order(ledger):
    """The newest revision stays, also where the older one is stored after it."""
    old, new = interaction(reply="I look"), interaction(reply="Done")
    new = interaction(reply="Done", trace_id=old.trace_id, span_id=old.span_id)
    ledger.commit(Batch(interactions=(stored(new, 2, "d2"),)))
    ledger.commit(Batch(interactions=(stored(old, 1, "d1"),)))
    assert ledger.interaction(old.id).reply == "Done"
    assert ledger.stored_interaction(old.id).revision == 2


def test_a_revision_is_a_new_digest(ledger):
    """The same digest keeps its revision; another is the next; an unknown Interaction starts at 1."""
    one = interaction()
    assert ledger.next_revisions({one.id: "d1"}) == {one.id: (1, True)}
    ledger.commit(Batch(interactions=(stored(one, 1, "d1"),)))
    assert ledger.next_revisions({one.id: "d1", "other": "x"}) == {one.id: (1, False), "other": (1, True)}
    assert ledger.next_revisions({one.id: "d2"}) == {one.id: (2, True)}


def finds_long_keys(ledger):
    """Stores sessions and users that are long, and alike at their beginning, and looks them up, each by its own."""
    endless = [secrets.token_hex(5_000) + last for last in ("a", "b", "\ud800", "\0")]
    found = [interaction(session=text, user_id=text[1:]) for text in endless]
    records = tuple(evaluation_record(one) for one in found)
    ledger.commit(Batch(interactions=tuple(map(stored, found)), records=records))
    for one, record in zip(found, records, strict=True):
        assert list(ledger.interactions(session=one.session)) == [one]
        assert list(ledger.interactions(user_id=one.user_id)) == [one]
        assert list(ledger.records(session=one.session)) == [record]
    assert ledger.delete(session=found[0].session).interactions == 1
    assert ledger.delete(user=found[3].user_id).evaluations == 1
    assert {one.id for one in ledger.interactions()} == {one.id for one in found[1:3]}


def test_sessions_and_users_of_any_length_are_found(ledger):
    """By a text that is as long, and as odd."""
    finds_long_keys(ledger)


def test_an_id_once_stored_stays_as_an_alias(ledger):
    """The old id finds the Interaction, its records and its revision under the new id; aliases of aliases too."""
    first, second, third = interaction(), interaction(), interaction()
    ledger.commit(Batch(interactions=(stored(first),), records=(evaluation_record(first),)))
    ledger.commit(Batch(interactions=(stored(second, 2, "d2"),), aliases={first.id: second.id}))
    ledger.commit(Batch(interactions=(stored(third, 3, "d3"),), aliases={second.id: third.id}))
    for known_as in (first.id, second.id, third.id):
        assert ledger.interaction(known_as) == third
        assert [record.interaction_id for record in ledger.evaluations(known_as)] == [first.id]
        assert [record.interaction_id for record in ledger.records(interaction_id=known_as)] == [first.id]
        assert ledger.next_revisions({known_as: "d3"}) == {known_as: (3, False)}
    assert list(ledger.interactions()) == [third]


def test_an_alias_whose_interaction_is_not_stored_yet_hides_nothing(ledger):
    """What is stored under the old id is found until the new one is there."""
    one = interaction()
    ledger.commit(Batch(interactions=(stored(one),)))
    ledger.commit(Batch(aliases={one.id: "later"}))
    assert ledger.interaction(one.id) == one


def test_a_later_record_under_an_alias_counts_as_a_revision(ledger):
    """An evaluation that was stored under the old id is the same evaluation's earlier verdict."""
    old, new = interaction(), interaction()
    ledger.commit(Batch(interactions=(stored(old),), records=(evaluation_record(old),)))
    batch = Batch(
        interactions=(stored(new, 2, "d2"),),
        records=(evaluation_record(new, outcome=Failed(explanation="rude"), revision=2),),
        aliases={old.id: new.id},
    )
    (done,) = ledger.commit(batch)
    assert (done.change, done.previous) == (Change.REVISED, "passed")


def test_evaluations_are_the_ended_ones_newest_first(ledger):
    """What waits is not among them."""
    one = interaction()
    early, late = evaluation_record(one, "a", started_ns=10), evaluation_record(one, "b", started_ns=20)
    waits = WaitingEvaluation(
        evaluation_id="w", interaction_id=one.id, evaluator="c", evaluator_version="1", check="judge"
    )
    ledger.commit(Batch(interactions=(stored(one),), records=(early, late), waiting=(waits,)))
    assert ledger.evaluations(one.id) == (late, early)
    assert ledger.evaluations("unknown") == ()


OUTCOMES = [
    Passed(explanation="fine", score=0.0, attributes={"n": 1, "f": 1.5, "b": True, "s": "x"}),
    Failed(explanation="rude", score=None, label="toxic"),
    Inconclusive(reason="nothing said"),
    Errored(reason="boom", error_type="ValueError"),
]


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.name)
def test_a_record_comes_back_as_it_was(ledger, outcome):
    """Each outcome is its own type again, with the judge's calls."""
    call = JudgeCall(conversation_id="c-judge", requested_model="m", answer="{}", cost_usd=0.25, error="late")
    record = evaluation_record(interaction(), outcome=outcome, threshold=0.7, judge_calls=(call,), attempt=3)
    ledger.finish([record])
    assert ledger.record(record.id) == record


def test_the_first_record_of_an_evaluation_stays(ledger):
    """A second result under the same id is dropped: what was exported stays true."""
    one = interaction()
    first = evaluation_record(one)
    again = evaluation_record(one, outcome=Failed(explanation="rude"))
    assert [done.change for done in ledger.finish([first])] == [Change.NEW]
    assert [done.change for done in ledger.finish([again])] == [Change.DUPLICATE]
    assert ledger.record(first.id) == first
    assert len(ledger.unexported()) == 1


SHOP, STAGE = {"service.name": "shop"}, {"service.name": "shop", "deployment.environment.name": "staging"}
FILTERS = [
    ({}, {"a", "b", "c", "d"}),
    ({"evaluator": "a"}, {"a"}),
    ({"agent": "sales"}, {"b"}),
    ({"session": "s2"}, {"c"}),
    ({"origin": Origin.RERUN}, {"d"}),
    ({"since_ns": 31}, {"b", "c", "d"}),
    ({"since_ns": 21, "until_ns": 41}, {"a", "b"}),
    ({"evaluator": "a", "agent": "sales"}, set()),
]


@pytest.mark.parametrize(("wanted", "found"), FILTERS)
def test_records_are_filtered(ledger, wanted, found):
    """Each filter alone and two together; all of current() too, since here every record is current."""
    records = [
        evaluation_record(interaction(), "a", started_ns=20, ended_ns=30),
        evaluation_record(interaction(agent="sales"), "b", started_ns=30, ended_ns=40),
        evaluation_record(interaction(session="s2"), "c", started_ns=40, ended_ns=50),
        evaluation_record(interaction(), "d", started_ns=50, ended_ns=60, origin=Origin.RERUN),
    ]
    ledger.finish(records)
    assert {record.evaluator for record in ledger.records(**wanted)} == found
    assert {record.evaluator for record in ledger.current(**wanted)} == found


def test_listings_go_on_past_a_page(ledger):
    """More than one page, with many of one time: each exactly once, newest first."""
    one = interaction()
    records = [evaluation_record(one, f"e{n}", started_ns=n // 700) for n in range(1400)]
    ledger.finish(records)
    listed = list(ledger.records())
    assert len({record.id for record in listed}) == len(listed) == 1400
    assert [record.ended_ns for record in listed] == sorted((record.ended_ns for record in records), reverse=True)


def test_interactions_are_listed_by_their_end(ledger):
    """Latest end first; filters and bounds of time apply; one without an end comes last."""
    early = interaction(started_ns=0, seconds=1)
    late = interaction(started_ns=0, seconds=2, session="s2")
    endless = interaction(ended_ns=None, user_id="u1")
    ledger.commit(Batch(interactions=tuple(stored(one) for one in (early, endless, late))))
    assert list(ledger.interactions()) == [late, early, endless]
    assert list(ledger.interactions(session="s2")) == [late]
    assert list(ledger.interactions(user_id="u1")) == [endless]
    assert list(ledger.interactions(since_ns=2_000_000_000)) == [late]


def test_the_reply_is_the_last_models_answer(ledger):
    """The outbox has the response id of the model's last answer that has one, and the end of the Interaction."""
    calls = [ModelCall(response_id="r1"), ModelCall(response_id="r2"), ModelCall()]
    one = interaction(model_calls=calls)
    ledger.commit(Batch(interactions=(stored(one),), records=(evaluation_record(one),)))
    (entry,) = ledger.unexported()
    assert (entry.response_id, entry.interaction_ended_ns) == ("r2", one.ended_ns)


def test_a_ledger_in_memory_is_one_ledger():
    """``sqlite://`` keeps what it is told for as long as it is open, for tests and notebooks."""
    one = interaction()
    with Ledger.open("sqlite://") as ledger:
        ledger.commit(Batch(interactions=(stored(one),)))
        assert ledger.interaction(one.id) == one
