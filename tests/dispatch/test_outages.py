"""What becomes of evaluations while a judge model, or the ledger, is down."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading

import pytest

from otel_eval.interaction import Interaction
from otel_eval.judges.errors import JudgeUnavailable
from otel_eval.ledger import LedgerUnavailable
from otel_eval.outcome import Cause, Inconclusive, Outcome, Passed
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import JUDGED, Asking, Pipeline, arrived, until


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


async def test_a_ledger_that_refuses_while_it_stops_is_told_in_a_line(
    pipeline: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever asked to store was cancelled: no traceback about an exception that nobody took, and nothing is stored."""
    gc.collect()  # what other tests left is theirs
    caplog.clear()
    asked, refusing = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    async with pipeline.running({"j": (JUDGED, Asking(pipeline.clock))}) as dispatcher:
        database = pipeline.ledger.ledger
        write_all = database.write_all

        def locked(changes):
            loop.call_soon_threadsafe(asked.set)
            refusing.wait()
            raise LedgerUnavailable("database is locked")

        database.write_all = locked
        storing = asyncio.create_task(dispatcher.accept([arrived(interaction())]))
        await asked.wait()
        storing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await storing
        refusing.set()
        await until(lambda: not dispatcher._tasks)
        database.write_all = write_all
    gc.collect()  # which is when an exception that nobody took is told
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.getMessage() for record in told] == [
        "Interactions that were to be stored as the server stopped are not in the ledger: database is locked"
    ]
    assert told[0].exc_info is None


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
