"""Each evaluator judges each Interaction once, and what it says is durable."""

from __future__ import annotations

import asyncio

import pytest

from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored, Failed, Outcome, Passed
from otel_eval.record import Origin
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import CUSTOM, EXACT, JUDGED, Asking, Exact, Pipeline, arrived, until


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


class Curious(Evaluator):
    """Says what it is told."""

    check = "curious"

    def __init__(self) -> None:
        self.told: list[EvaluationContext] = []

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        self.told.append(context)
        return Passed("heard")


async def test_an_evaluator_is_told_what_bound_it(pipeline: Pipeline) -> None:
    """The entry of the configuration that decides for the agent; with its id, the evaluation's, and the ledger."""
    curious = Curious()
    entry = {"use": "package:Curious", "agents": ["support-*", "*"]}
    async with pipeline.running({"c": (entry, curious)}) as dispatcher:
        for agent in ("support-eu", "sales"):
            await dispatcher.accept([arrived(interaction(agent=agent))])
        records = await pipeline.ended(2)
    assert sorted(each.binding or "" for each in curious.told) == ["agents.*", "agents.support-*"]
    assert {each.evaluation_id for each in curious.told} == {record.id for record in records}
    assert all(each.evaluator_id == "c" and each.ledger is not None for each in curious.told)
