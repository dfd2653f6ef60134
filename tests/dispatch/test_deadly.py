"""What took its process with it again and again ends as an error, and the others are judged as ever."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from otel_eval.crashes import DEATHS, Caution, owner_of
from otel_eval.crashes.caution import APART_S, MOST_CONVICTED
from otel_eval.crashes.notes import left
from otel_eval.crashes.suspects import ALONE_FROM, Suspect, Suspects
from otel_eval.identity import evaluation_id
from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored, Outcome, Passed
from otel_eval.record import EvaluationRecord
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import CUSTOM, EXACT, JUDGED, Asking, Exact, Pipeline, arrived, until


def traffic(count: int) -> list[Interaction]:
    return [
        interaction(trace_id=f"{number:032x}", span_id=f"{number:016x}", reply="ok") for number in range(1, count + 1)
    ]


def after(directory: Path, pipeline: Pipeline, deaths: dict[tuple[str, str], int]) -> Caution:
    """Of a process that begins after so many deaths, by evaluator and Interaction."""
    under_way = {
        f"evaluation:{evaluation_id(interaction_id=name, evaluator=evaluator, evaluator_version='1')}"
        f"-{owner_of(evaluator, '1')}": Suspect(count, pipeline.clock.now_ns())
        for (evaluator, name), count in deaths.items()
    }
    Suspects(under_way=under_way).save(directory)
    caution = Caution.begin(directory, at_once=8, clock=pipeline.clock)
    caution.start()
    return caution


def by_outcome(records: list[EvaluationRecord]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for record in sorted(records, key=lambda record: record.interaction_id):
        found.setdefault(f"{record.evaluator} {record.outcome.name}", []).append(record.interaction_id)
    return found


async def test_the_deadly_one_ends_as_an_error_and_is_not_called(
    pipeline: Pipeline, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether it runs in the pipeline or in a worker; it is said once, and counted as any other outcome."""
    first, second, third = traffic(3)
    exact, judge = Exact(), Asking(pipeline.clock)
    caution = after(tmp_path, pipeline, {("e", first.id): DEATHS, ("j", second.id): DEATHS})
    async with pipeline.running({"e": (EXACT, exact), "j": (CUSTOM, judge)}, caution=caution) as dispatcher:
        await dispatcher.accept([arrived(each) for each in (first, second, third)])
        records = await pipeline.ended(6)
    assert by_outcome(records) == {
        "e error": [first.id],
        "e passed": [second.id, third.id],
        "j error": [second.id],
        "j passed": [first.id, third.id],
    }
    assert exact.calls == [second.id, third.id]
    assert sorted(judge.calls) == [first.id, third.id]
    errors = {record.evaluator: record.outcome for record in records if isinstance(record.outcome, Errored)}
    assert (
        errors["e"]
        == errors["j"]
        == Errored("the judging process died 4 times while this was evaluated", error_type="process_died")
    )
    assert pipeline.counts.by["otel_eval.evaluations", "error"] == 2
    assert caplog.messages == [
        f"evaluators.e on Interaction {first.id} ends as an error: the judging process died 4 times while this was evaluated",
        f"evaluators.j on Interaction {second.id} ends as an error: the judging process died 4 times while this was evaluated",
    ]


async def test_suspects_run_by_themselves_and_clear_themselves(pipeline: Pipeline, tmp_path: Path) -> None:
    """Two of four were under way at two deaths: all of that evaluator run alone, when the process has lived a while,
    and are judged."""
    interactions = traffic(4)
    under_way: list[int] = []
    judge = Asking(pipeline.clock)

    async def slowly(_: Interaction) -> Outcome:
        under_way.append(judge.now)
        await asyncio.sleep(0)
        return Passed("well done", score=1.0)

    judge.answer = slowly
    suspected = {("j", each.id): ALONE_FROM for each in interactions[:2]}
    caution = after(tmp_path, pipeline, suspected)
    async with pipeline.running({"j": (CUSTOM, judge)}, caution=caution) as dispatcher:
        await dispatcher.accept([arrived(each) for each in interactions])
        await pipeline.clock.run_for(APART_S / 2)
        assert judge.calls == []
        await pipeline.clock.run_for(APART_S / 2)
        await pipeline.ended(2)
        assert sorted(judge.calls) == [each.id for each in interactions[:2]]
        await pipeline.clock.run_for(APART_S)
        records = await pipeline.ended(4)
    assert under_way == [1, 1, 1, 1]
    assert by_outcome(records) == {"j passed": [each.id for each in interactions]}
    assert Suspects.load(tmp_path).under_way == {}


async def test_an_evaluator_that_kills_always_is_not_called_for_a_while(
    pipeline: Pipeline, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Every death takes all of judging with it: after three such evaluations the others of it end as errors at once."""
    interactions = traffic(MOST_CONVICTED + 2)
    judge = Asking(pipeline.clock)
    caution = after(tmp_path, pipeline, {("j", each.id): DEATHS for each in interactions[:MOST_CONVICTED]})
    evaluators = {"e": (EXACT, Exact()), "j": (CUSTOM, judge)}

    def judged(name: str) -> bool:
        return any(record.interaction_id == name and record.evaluator == "j" for record in pipeline.records)

    async with pipeline.running(evaluators, caution=caution) as dispatcher:
        for each in interactions:
            await dispatcher.accept([arrived(each)])
            await until(partial(judged, each.id))
        records = await pipeline.ended(2 * len(interactions))
    assert judge.calls == []
    reasons = [record.outcome.reason for record in records if isinstance(record.outcome, Errored)]
    resting = "not called: the judging process died of 3 other evaluations of it within the last hour"
    assert reasons == ["the judging process died 4 times while this was evaluated"] * 3 + [resting] * 2
    assert [message for message in caplog.messages if "not called" in message] == [f"evaluators.j is {resting}"]


async def test_an_exact_evaluator_of_ours_is_called_whatever_others_of_it_did(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    """No code of a user's is in it: the deadly ones end as errors, and no more."""
    interactions = traffic(MOST_CONVICTED + 2)
    exact = Exact()
    caution = after(tmp_path, pipeline, {("e", each.id): DEATHS for each in interactions[:MOST_CONVICTED]})
    async with pipeline.running({"e": (EXACT, exact)}, caution=caution) as dispatcher:
        await dispatcher.accept([arrived(each) for each in interactions])
        records = await pipeline.ended(len(interactions))
    assert by_outcome(records) == {
        "e error": [each.id for each in interactions[:MOST_CONVICTED]],
        "e passed": exact.calls,
    }


async def test_a_judge_of_ours_is_no_suspect(pipeline: Pipeline, tmp_path: Path) -> None:
    """It waits for its model, so that it is nearly always under way when somebody kills: it is not noted, and judged
    at once."""
    interactions = traffic(MOST_CONVICTED + 2)
    noted: list[tuple[str, ...]] = []

    async def answer(_: Interaction) -> Outcome:
        noted.append(left(tmp_path))
        return Passed("well done", score=1.0)

    judge = Asking(pipeline.clock, answer)
    caution = after(tmp_path, pipeline, {("j", each.id): DEATHS for each in interactions})
    async with pipeline.running({"j": (JUDGED, judge)}, caution=caution) as dispatcher:
        await dispatcher.accept([arrived(each) for each in interactions])
        records = await pipeline.ended(len(interactions))
    assert by_outcome(records) == {"j passed": [each.id for each in interactions]}
    assert noted == [()] * len(interactions)
