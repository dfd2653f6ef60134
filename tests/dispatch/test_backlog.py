"""What waits its turn: within which limits it runs, in which order, and who sees it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from otel_eval.dispatch import lanes, workers
from otel_eval.interaction import Interaction
from otel_eval.outcome import Outcome, Passed
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import JUDGED, Asking, Pipeline, arrived, until


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


async def _gauge(pipeline: Pipeline, name: str, value: float, at_least: bool = False) -> None:
    async with asyncio.timeout(60):
        while (shown := pipeline.counts.last.get(name)) != value and not (at_least and (shown or 0) >= value):
            await pipeline.clock.run_for(5)


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
