"""Each evaluator judges each Interaction once, whatever happens."""

from __future__ import annotations

import asyncio
import dataclasses
import threading

import pytest

from otel_eval.dispatch import lanes, workers
from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.interaction import Interaction
from otel_eval.judges.errors import JudgeUnavailable
from otel_eval.ledger import Batch, LedgerUnavailable, StoredInteraction, WaitingEvaluation
from otel_eval.outcome import Cause, Errored, Failed, Inconclusive, Outcome, Passed
from otel_eval.record import EvaluationRecord, Origin
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import CUSTOM, EXACT, GUARD, JUDGED, Asking, Exact, Pipeline, arrived, until


async def test_exact_records_are_durable_when_accept_returns(pipeline: Pipeline) -> None:
    """Exact evaluators' records are committed in the same transaction as their Interactions."""
    one, other = interaction(reply="ok"), interaction(reply="no")
    async with pipeline.running({"e": (EXACT, Exact())}) as dispatcher:
        accepted = await dispatcher.accept([arrived(one), arrived(other)])
        stored = [pipeline.ledger.ledger.evaluations(each.id) for each in (one, other)]
    assert [type(records[0].outcome) for records in stored] == [Passed, Failed]
    assert [each.disposition for each in accepted] == ["evaluated", "evaluated"]
    assert accepted[0].records == stored[0]


async def test_judged_evaluations_wait_in_the_ledger_before_they_run(pipeline: Pipeline) -> None:
    """What asks a model is durable as waiting when accept returns, and leaves the list with its record."""
    go = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await go.wait()
        return Passed("yes", score=0.7)

    async with pipeline.running({"j": (JUDGED, Asking(pipeline.clock, held))}) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        assert len(pipeline.ledger.ledger.waiting()) == 1
        go.set()
        (record,) = await pipeline.ended(1)
        assert pipeline.ledger.ledger.waiting() == ()
    assert (record.outcome.name, record.check, len(record.judge_calls)) == ("passed", "judge", 1)


async def test_the_same_evidence_again_changes_nothing(pipeline: Pipeline) -> None:
    """Replayed telemetry is neither judged nor counted again."""
    evaluator, one = Exact(), interaction()
    async with pipeline.running({"e": (EXACT, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(one), arrived(one)])
        assert await dispatcher.accept([arrived(one)]) == ()
    assert evaluator.calls == [one.id]
    assert pipeline.counts.total["otel_eval.interactions"] == pipeline.counts.total["otel_eval.evaluations"] == 1


async def test_a_crash_loses_nothing_and_doubles_nothing(pipeline: Pipeline) -> None:
    """After a crash between accept and verdict every evaluation ends, and ends once."""

    async def never(interaction: Interaction) -> Outcome:
        await asyncio.Event().wait()
        raise AssertionError

    many = [interaction() for _ in range(30)]
    entries = {"e": (EXACT, Exact())}
    first = Asking(pipeline.clock, never)
    async with pipeline.running({**entries, "j": (JUDGED, first)}, crash=True) as dispatcher:
        await dispatcher.accept([arrived(each) for each in many])
        await until(lambda: first.now == 8)
    second = Asking(pipeline.clock)
    async with pipeline.running({**entries, "j": (JUDGED, second)}) as dispatcher:
        await dispatcher.accept([arrived(each) for each in many])
        await pipeline.ended(60)
        per_interaction = [len(pipeline.ledger.ledger.evaluations(each.id)) for each in many]
        assert pipeline.ledger.ledger.waiting() == ()
    assert per_interaction == [2] * 30
    assert sorted(second.calls) == sorted(each.id for each in many)


async def test_stopping_lets_running_evaluations_end(pipeline: Pipeline) -> None:
    """Within the grace period what runs gets its record; what did not end waits for the next start."""
    go = asyncio.Event()

    async def held(one: Interaction) -> Outcome:
        if one.reply != "quick":
            await asyncio.Event().wait()
        await go.wait()
        return Passed("yes")

    evaluator = Asking(pipeline.clock, held)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(interaction(reply="quick")), arrived(interaction(reply="endless"))])
        await until(lambda: evaluator.now == 2)
        stopping = asyncio.ensure_future(dispatcher.stop())
        await until(lambda: pipeline.clock.next_deadline is not None)
        go.set()
        await pipeline.ended(1)
        assert not stopping.done()
        await pipeline.clock.run_for(10)
        await stopping
        assert len(pipeline.ledger.ledger.waiting()) == 1


async def test_concurrency_stays_within_its_limits(pipeline: Pipeline) -> None:
    """Never more evaluations at a time than dispatch.max_concurrency, and of one model than its own limit."""
    gate = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await gate.wait()
        return Passed("yes")

    one, two = Asking(pipeline.clock, held), Asking(pipeline.clock, held)
    entries = {"a": (JUDGED, one), "b": ({**JUDGED, "judge_model": "p/two"}, two)}
    models = {"p/one": {"model": "p/one", "max_concurrency": 3}, "p/two": {"model": "p/two", "max_concurrency": 9}}
    async with pipeline.running(entries, judge_models=models, dispatch={"max_concurrency": 5}) as dispatcher:
        await dispatcher.accept([arrived(interaction()) for _ in range(40)])
        await until(lambda: one.now + two.now == 5)
        gate.set()
        await pipeline.ended(80)
    assert one.most <= 3
    assert 2 <= two.most <= 5


async def test_a_model_that_is_down_keeps_its_backlog(pipeline: Pipeline) -> None:
    """Its evaluations wait and are judged when it is back; other models go on meanwhile."""
    down = True

    async def flaky(interaction: Interaction) -> Outcome:
        if down:
            raise JudgeUnavailable("503", model="p/one")
        return Passed("yes", score=1.0)

    flaky_one, steady = Asking(pipeline.clock, flaky), Asking(pipeline.clock)
    entries = {"a": (JUDGED, flaky_one), "b": ({**JUDGED, "judge_model": "p/two"}, steady)}
    async with pipeline.running(entries) as dispatcher:
        await dispatcher.accept([arrived(interaction()) for _ in range(20)])
        records = await pipeline.ended(20)
        assert {record.evaluator for record in records} == {"b"}
        await until(lambda: flaky_one.now == 0 and pipeline.counts.last.get("otel_eval.judge.paused") == 1)
        before = len(flaky_one.calls)
        await pipeline.clock.run_for(100)
        assert len(flaky_one.calls) - before <= 6
        assert len(pipeline.ledger.ledger.waiting()) == 20
        down = False
        await pipeline.clock.run_for(60)
        await pipeline.ended(40)
    assert pipeline.counts.last["otel_eval.judge.paused"] == 0
    assert {record.outcome.name for record in pipeline.records} == {"passed"}


async def test_a_model_is_not_asked_before_its_provider_wants(pipeline: Pipeline) -> None:
    """Retry-After decides when a paused model is tried again."""
    refusals = [JudgeUnavailable("429", model="p/one", retry_after=42.0)]

    async def busy(interaction: Interaction) -> Outcome:
        if refusals:
            raise refusals.pop()
        return Passed("yes")

    evaluator = Asking(pipeline.clock, busy)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1)
        await pipeline.clock.run_for(41)
        assert len(evaluator.calls) == 1
        await pipeline.clock.run_for(2)
        await pipeline.ended(1)
    assert len(evaluator.calls) == 2


async def test_waiting_for_a_model_comes_to_an_end(pipeline: Pipeline) -> None:
    """After dispatch.max_wait of outage an evaluation ends inconclusive, with the cause; it is not judged later."""

    async def down(interaction: Interaction) -> Outcome:
        raise JudgeUnavailable("connection refused", model="p/one")

    evaluator = Asking(pipeline.clock, down)
    async with pipeline.running({"j": (JUDGED, evaluator)}, dispatch={"max_wait": "10m"}) as dispatcher:
        await dispatcher.accept([arrived(interaction()) for _ in range(5)])
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1 and evaluator.now == 0)
        await pipeline.clock.run_for(590)
        assert pipeline.records == []
        await pipeline.clock.run_for(15)
        records = await pipeline.ended(5)
        assert pipeline.ledger.ledger.waiting() == ()
    assert {(type(each.outcome), each.outcome.cause) for each in records} == {(Inconclusive, Cause.JUDGE_UNAVAILABLE)}
    assert "connection refused" in records[0].outcome.reason


async def test_a_newer_revision_takes_the_place_of_a_waiting_older_one(pipeline: Pipeline) -> None:
    """What waited for the older evidence is not judged; the newer one is, and keeps its place as the current record."""
    gate = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await gate.wait()
        return Passed(interaction.reply or "")

    one = interaction(reply="first")
    models = {"p/one": {"model": "p/one", "max_concurrency": 1}}
    evaluator = Asking(pipeline.clock, held)
    async with pipeline.running({"j": (JUDGED, evaluator)}, judge_models=models) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        await until(lambda: evaluator.now == 1)
        await dispatcher.accept([arrived(one, "d1")])
        await dispatcher.accept([arrived(dataclasses.replace(one, reply="second"), "d2")])
        gate.set()
        await pipeline.ended(2)
        (record,) = pipeline.ledger.ledger.evaluations(one.id)
    assert (record.revision, record.outcome) == (2, Passed("second"))
    assert pipeline.counts.total["otel_eval.interactions"] == 2


async def test_a_verdict_stands_while_its_evidence_stays(pipeline: Pipeline) -> None:
    """A revision that changes nothing a judge is shown is not judged again; one that does is, and counts as revised."""
    judged = iter([Passed("yes"), Failed("no")])

    async def answer(interaction: Interaction) -> Outcome:
        return next(judged)

    one = interaction(reply="ok")
    evaluator = Asking(pipeline.clock, answer)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(one)])
        await pipeline.ended(1)
        later = dataclasses.replace(one, ended_ns=one.ended_ns + 5)
        (accepted,) = await dispatcher.accept([arrived(later, "d2")])
        assert (accepted.revision, accepted.waiting) == (2, ())
        await dispatcher.accept([arrived(dataclasses.replace(later, reply="other"), "d3")])
        await pipeline.ended(2)
    assert len(evaluator.calls) == 2
    assert pipeline.counts.by["otel_eval.evaluation.revised", "failed"] == 1
    assert pipeline.counts.total["otel_eval.evaluations"] == 1


class Broken(Evaluator):
    """Raises."""

    check = "broken"

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        raise KeyError("no such thing")


@pytest.mark.parametrize("entry", [EXACT, CUSTOM, JUDGED], ids=["inline", "in a thread", "queued"])
async def test_a_broken_evaluator_hurts_only_itself(pipeline: Pipeline, entry: dict[str, object]) -> None:
    """Its record is an error; the others have theirs."""
    entries = {"broken": (entry, Broken()), "e": (EXACT, Exact()), "j": (JUDGED, Asking(pipeline.clock))}
    async with pipeline.running(entries) as dispatcher:
        await dispatcher.accept([arrived(interaction(reply="ok"))])
        records = await pipeline.ended(3)
    outcomes = {record.evaluator: record.outcome for record in records}
    assert isinstance(outcomes["broken"], Errored)
    assert outcomes["broken"].error_type == "KeyError"
    assert {outcomes["e"].name, outcomes["j"].name} == {"passed"}


async def test_judge_calls_of_ours_are_not_judged(pipeline: Pipeline) -> None:
    """By their trace, and in a foreign trace by their system message: not stored, not judged, counted as dropped."""
    own_trace = interaction(trace_id=GUARD.trace_id("some evaluation"))
    own_text = interaction(system=f"You judge. {GUARD.fingerprint('some evaluation')}")
    quoting = interaction(asked=f"What is {GUARD.fingerprint('some evaluation')}?")
    evaluator = Exact()
    async with pipeline.running({"e": (EXACT, evaluator)}) as dispatcher:
        accepted = await dispatcher.accept([arrived(each) for each in (own_trace, own_text, quoting)])
    assert [each.interaction.id for each in accepted] == evaluator.calls == [quoting.id]
    assert pipeline.counts.by["otel_eval.interactions", "dropped"] == 2


async def test_a_call_of_ours_that_was_queued_is_found_when_it_runs(pipeline: Pipeline) -> None:
    """The guard is asked again before a judge is: rows of an earlier start may have been stored without it."""
    own = interaction(trace_id=GUARD.trace_id("some evaluation"))
    evaluator = Asking(pipeline.clock)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        await pipeline.ended(1)
        (waited,) = pipeline.records
        await pipeline.ledger.commit(_batch(own, waited))
    async with pipeline.running({"j": (JUDGED, evaluator)}):
        records = await pipeline.ended(2)
    assert records[1].outcome.cause is Cause.LOOP
    assert len(evaluator.calls) == 1


def _batch(one: Interaction, like: EvaluationRecord) -> Batch:
    waiting = WaitingEvaluation(
        evaluation_id="f" * 32,
        interaction_id=one.id,
        evaluator=like.evaluator,
        evaluator_version=like.evaluator_version,
        check=like.check,
    )
    return Batch(interactions=(StoredInteraction(interaction=one, revision=1, digest="d"),), waiting=(waiting,))


async def test_what_waited_for_an_evaluator_that_is_gone_is_let_go(pipeline: Pipeline) -> None:
    """After a change of the configuration nothing waits for ever; a new version judges what waited for the old one."""

    async def never(interaction: Interaction) -> Outcome:
        await asyncio.Event().wait()
        raise AssertionError

    entries = {name: (JUDGED, Asking(pipeline.clock, never)) for name in ("kept", "gone", "changed")}
    async with pipeline.running(entries, crash=True) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
    kept, changed = Asking(pipeline.clock), Asking(pipeline.clock, version="2")
    async with pipeline.running({"kept": (JUDGED, kept), "changed": (JUDGED, changed)}):
        records = await pipeline.ended(2)
        await until(lambda: pipeline.ledger.ledger.waiting() == ())
    assert {(record.evaluator, record.evaluator_version) for record in records} == {("kept", "1"), ("changed", "2")}


async def test_a_rerun_is_an_attempt_of_its_own(pipeline: Pipeline) -> None:
    """Attempt +1, origin rerun, counted apart; exact evaluators too."""
    one = interaction(reply="ok")
    async with pipeline.running({"e": (EXACT, Exact()), "j": (JUDGED, Asking(pipeline.clock))}) as dispatcher:
        await dispatcher.accept([arrived(one)])
        await pipeline.ended(2)
        ids = await dispatcher.rerun(one.id)
        records = (await pipeline.ended(4))[2:]
        (third,) = await dispatcher.rerun(one.id, ["e"])
        (again,) = (await pipeline.ended(5))[4:]
        with pytest.raises(KeyError):
            await dispatcher.rerun(one.id, ["nobody"])
        with pytest.raises(KeyError):
            await dispatcher.rerun("0" * 32 + "-" + "0" * 16)
    assert {record.id for record in records} == set(ids)
    assert {(record.attempt, record.origin) for record in records} == {(1, Origin.RERUN)}
    assert (again.id, again.attempt) == (third, 2)
    assert pipeline.counts.by["otel_eval.evaluations", "rerun"] == 3


async def test_the_backlog_is_a_metric(pipeline: Pipeline) -> None:
    """The gauges say how much waits and for how long, and go back to nothing."""
    gate = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await gate.wait()
        return Passed("yes")

    async with pipeline.running({"j": (JUDGED, Asking(pipeline.clock, held))}) as dispatcher:
        await dispatcher.accept([arrived(interaction()) for _ in range(3)])
        await _gauge(pipeline, "otel_eval.backlog.evaluations", 3)
        await _gauge(pipeline, "otel_eval.backlog.age", 60, at_least=True)
        gate.set()
        await pipeline.ended(3)
        await _gauge(pipeline, "otel_eval.backlog.evaluations", 0)


async def _gauge(pipeline: Pipeline, name: str, value: float, at_least: bool = False) -> None:
    async with asyncio.timeout(60):
        while (shown := pipeline.counts.last.get(name)) != value and not (at_least and (shown or 0) >= value):
            await pipeline.clock.run_for(5)


async def test_a_long_backlog_is_worked_off_from_the_ledger(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than fits the window in memory, also after a restart: all of it ends, each once."""
    monkeypatch.setattr(lanes, "WINDOW", 10)
    monkeypatch.setattr(workers, "WINDOW", 10)
    gate = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await gate.wait()
        return Passed("yes")

    first, second = Asking(pipeline.clock, held), Asking(pipeline.clock, held)
    many = [interaction() for _ in range(100)]
    async with pipeline.running({"j": (JUDGED, first)}, crash=True) as dispatcher:
        for start in range(0, 60, 20):
            await dispatcher.accept([arrived(each) for each in many[start : start + 20]])
    async with pipeline.running({"j": (JUDGED, second)}) as dispatcher:
        for start in range(60, 100, 20):
            await dispatcher.accept([arrived(each) for each in many[start : start + 20]])
        gate.set()
        await pipeline.ended(100)
        assert pipeline.ledger.ledger.waiting() == ()
    assert sorted(second.calls) == sorted(each.id for each in many)


async def test_when_the_ledger_does_not_take_it_nothing_happened(pipeline: Pipeline) -> None:
    """accept raises, runs no judge, and may be called again."""
    one = interaction()
    evaluator = Asking(pipeline.clock)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        database = pipeline.ledger.ledger
        write_all = database.write_all

        def full(changes):
            raise LedgerUnavailable("disk full")

        database.write_all = full
        with pytest.raises(LedgerUnavailable):
            await dispatcher.accept([arrived(one)])
        assert evaluator.calls == []
        database.write_all = write_all
        await dispatcher.accept([arrived(one)])
        await pipeline.ended(1)
    assert pipeline.counts.total["otel_eval.interactions"] == 1


async def test_aliases_go_into_the_ledger(pipeline: Pipeline) -> None:
    """An id that was handed out before finds the Interaction under its new one."""
    one = interaction()
    async with pipeline.running({}) as dispatcher:
        await dispatcher.accept([arrived(one)], aliases={"old-id": one.id})
        assert (await pipeline.ledger.interaction("old-id")).id == one.id


async def test_the_role_is_recorded(pipeline: Pipeline) -> None:
    """The first role of the file that the agent has is stored with the Interaction."""
    roles = {"first": {"agents": ["support-*"]}, "second": {"agents": ["*"]}}
    one = interaction()
    async with pipeline.running({}, roles=roles) as dispatcher:
        await dispatcher.accept([arrived(one)])
        assert (await pipeline.ledger.interaction(one.id)).role == "first"


async def test_a_binding_that_never_matches_warns(pipeline: Pipeline, caplog: pytest.LogCaptureFixture) -> None:
    """Once, after dispatch.unmatched_after of traffic, naming the entry and the agents that were seen."""
    entry = {"check": "should_not_fail", "agents": ["suport-agent"]}
    async with pipeline.running({"e": (entry, Exact())}, dispatch={"unmatched_after": "10m"}) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        assert "matched no" not in caplog.text
        await pipeline.clock.run_for(601)
        await dispatcher.accept([arrived(interaction())])
        await dispatcher.accept([arrived(interaction())])
    warnings = [each.message for each in caplog.records if "matched no" in each.message]
    assert warnings == [
        "evaluators.e.agents.suport-agent has matched no Interaction in 600 s; agents seen: support-agent"
    ]
    assert pipeline.counts.by["otel_eval.interactions", "not bound"] == 3


async def test_a_batch_is_one_transaction(pipeline: Pipeline) -> None:
    """However many Interactions and evaluators: a commit for each would be the bottleneck."""
    many = [arrived(interaction(reply="ok")) for _ in range(500)]
    entries = {"a": (EXACT, Exact()), "b": (EXACT, Exact()), "j": (JUDGED, Asking(pipeline.clock))}
    async with pipeline.running(entries) as dispatcher:
        database, transactions = pipeline.ledger.ledger, []
        write_all = database.write_all
        database.write_all = lambda changes: transactions.append(len(changes)) or write_all(changes)
        await dispatcher.accept(many)
        assert len(pipeline.records) >= 1000
        assert transactions[0] == 1
        in_first = [record for record in pipeline.records[:1000] if record.evaluator != "j"]
        assert len(in_first) == 1000


async def test_storing_a_verdict_holds_up_no_other_until_too_many_are_stored(pipeline: Pipeline) -> None:
    """A model's place is free once it answered; with a ledger that is slow, as many verdicts wait as may run."""
    release, judged = threading.Event(), threading.Event()

    async def answer(interaction: Interaction) -> Outcome:
        judged.set()
        return Passed("yes")

    evaluator = Asking(pipeline.clock, answer)
    models = {"p/one": {"model": "p/one", "max_concurrency": 1}}
    sections = {"judge_models": models, "dispatch": {"max_concurrency": 3}}
    async with pipeline.running({"j": (JUDGED, evaluator)}, **sections) as dispatcher:
        database = pipeline.ledger.ledger
        write_all = database.write_all

        def slow(changes):
            return (not judged.is_set() or release.wait(30)) and write_all(changes)

        database.write_all = slow
        await dispatcher.accept([arrived(interaction()) for _ in range(5)])
        await until(lambda: len(evaluator.calls) == 3)
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(evaluator.calls) == 3
        release.set()
        await pipeline.ended(5)
    assert sorted(evaluator.calls) == sorted(record.interaction_id for record in pipeline.records)


async def test_an_interaction_under_a_new_id_is_judged_once(pipeline: Pipeline) -> None:
    """What waited under the old id is let go: the new one has evaluations of its own."""
    gate = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await gate.wait()
        return Passed("yes")

    first, old, new = interaction(), interaction(), interaction()
    models = {"p/one": {"model": "p/one", "max_concurrency": 1}}
    evaluator = Asking(pipeline.clock, held)
    async with pipeline.running({"j": (JUDGED, evaluator)}, judge_models=models) as dispatcher:
        await dispatcher.accept([arrived(first)])
        await dispatcher.accept([arrived(old)])
        await dispatcher.accept([arrived(new)], aliases={old.id: new.id})
        gate.set()
        await pipeline.ended(2)
        await until(lambda: pipeline.ledger.ledger.waiting() == ())
    assert evaluator.calls == [first.id, new.id]


async def test_a_verdict_outlives_an_outage_of_the_ledger(pipeline: Pipeline) -> None:
    """What a judge said is stored once the ledger takes it again; the judge is not asked a second time."""
    full = False

    async def answer(interaction: Interaction) -> Outcome:
        nonlocal full
        full = True
        return Passed("yes")

    evaluator = Asking(pipeline.clock, answer)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        database = pipeline.ledger.ledger
        write_all, refused = database.write_all, []

        def sometimes(changes):
            if full:
                refused.append(1)
                raise LedgerUnavailable("disk full")
            return write_all(changes)

        database.write_all = sometimes
        await dispatcher.accept([arrived(interaction())])
        await until(lambda: len(refused) > 0)
        await pipeline.clock.run_for(3)
        assert pipeline.records == []
        full = False
        async with asyncio.timeout(60):
            while not pipeline.records:
                await pipeline.clock.run_for(1)
    assert (len(evaluator.calls), len(pipeline.records)) == (1, 1)
