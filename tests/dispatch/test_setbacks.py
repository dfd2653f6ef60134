"""One evaluation that its model fails every time, while it answers others: it waits alone."""

from __future__ import annotations

import asyncio

import pytest

from otel_eval.dispatch.setbacks import Setbacks
from otel_eval.interaction import Interaction
from otel_eval.judges import JudgeUnavailable
from otel_eval.outcome import Cause, Inconclusive, Outcome, Passed
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import JUDGED, Asking, Pipeline, arrived, until

POISON = interaction(asked="the one that the provider chokes on")


async def choke(interaction: Interaction) -> Outcome:
    """A provider that answers all but one."""
    if interaction.asked == POISON.asked:
        raise JudgeUnavailable("HTTP 500: oops", model="p/one")
    return Passed("well", score=1.0)


async def go_on(pipeline: Pipeline) -> None:
    """Let five seconds pass, and then the ledger's threads, which do not know of the clock, do their work."""
    await pipeline.clock.run_for(5)
    await asyncio.sleep(0.02)


async def run_until_ended(pipeline: Pipeline, count: int) -> None:
    """Let time go on until there are that many records."""
    while len(pipeline.records) < count:
        await go_on(pipeline)


async def test_one_that_always_fails_does_not_hold_up_the_others(pipeline: Pipeline) -> None:
    """Though it came first; after max_wait it ends inconclusive itself, and the others have their verdicts long since."""
    evaluator = Asking(pipeline.clock, choke)
    began = pipeline.clock.now_ns()
    async with pipeline.running({"j": (JUDGED, evaluator)}, dispatch={"max_wait": "10m"}) as dispatcher:
        await dispatcher.accept([arrived(POISON)])
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1)
        await dispatcher.accept([arrived(interaction()) for _ in range(20)])
        await run_until_ended(pipeline, 20)
        assert {record.outcome.name for record in pipeline.records} == {"passed"}
        while POISON.id not in (ended := {record.interaction_id: record.outcome for record in pipeline.records}):
            await dispatcher.accept([arrived(interaction())])
            await go_on(pipeline)
    waited = pipeline.clock.now_ns() - began
    assert waited >= 600e9
    assert len(pipeline.records) > 21
    outcome = ended[POISON.id]
    assert isinstance(outcome, Inconclusive)
    assert outcome.cause is Cause.JUDGE_UNAVAILABLE
    assert "HTTP 500: oops" in outcome.reason
    assert evaluator.calls.count(POISON.id) < 20


async def test_a_newer_revision_takes_the_place_of_one_that_was_set_aside(pipeline: Pipeline) -> None:
    """The older is never tried again."""
    evaluator = Asking(pipeline.clock, choke)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(POISON)])
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1)
        await dispatcher.accept([arrived(interaction())])
        await run_until_ended(pipeline, 1)
        before = evaluator.calls.count(POISON.id)
        while evaluator.calls.count(POISON.id) == before:
            await go_on(pipeline)
        await until(lambda: evaluator.now == 0)
        tries = evaluator.calls.count(POISON.id)
        newer = interaction(id=POISON.id, trace_id=POISON.trace_id, span_id=POISON.span_id, asked="harmless")
        await dispatcher.accept([arrived(newer, "d2")])
        await run_until_ended(pipeline, 2)
        await pipeline.clock.run_for(60)
    assert evaluator.calls.count(POISON.id) == tries + 1
    assert [record.revision for record in pipeline.records if record.interaction_id == POISON.id] == [2]


@pytest.mark.parametrize(
    ("trouble", "answered_at", "alone"),
    [
        (JudgeUnavailable("HTTP 500", model="m"), None, False),
        (JudgeUnavailable("HTTP 500", model="m"), 5.0, False),
        (JudgeUnavailable("HTTP 500", model="m"), 11.0, True),
        (JudgeUnavailable("HTTP 403", model="m", final=True), 11.0, True),
        (JudgeUnavailable("HTTP 429", model="m", rate_limited=True), 11.0, False),
        (JudgeUnavailable("HTTP 503", model="m", retry_after=30.0), 11.0, False),
    ],
)
def test_whose_trouble_it_is(trouble: JudgeUnavailable, answered_at: float | None, alone: bool) -> None:
    """Its own where the model answered others since its try began; a rate limit is always the model's."""
    setbacks = Setbacks()
    if answered_at is not None:
        setbacks.answered(answered_at)
    assert setbacks.failed("e", trouble, began=10.0, now=12.0, now_ns=0) is alone


def test_an_answer_between_two_failures_counts() -> None:
    """Tried by itself it fails again, though the model answered another before: that is no outage."""
    setbacks, trouble = Setbacks(), JudgeUnavailable("HTTP 500", model="m")
    assert not setbacks.failed("e", trouble, began=10.0, now=12.0, now_ns=0)
    setbacks.answered(13.0)
    assert setbacks.failed("e", trouble, began=20.0, now=22.0, now_ns=0)
    assert [setbacks.next_wait("e") for _ in range(9)] == [5, 10, 20, 40, 80, 160, 320, 600, 600]


async def test_many_evaluations_of_one_that_always_fails_hold_up_the_others_no_longer(pipeline: Pipeline) -> None:
    """A paused model is asked about another Interaction than the one at which it failed, however many evaluate that."""
    good = interaction(asked="fine")
    entries = {f"e{number}": (JUDGED, Asking(pipeline.clock, choke)) for number in range(12)}
    async with pipeline.running(entries, dispatch={"max_wait": "10m"}) as dispatcher:
        began = pipeline.clock.monotonic()
        await dispatcher.accept([arrived(POISON)])
        await dispatcher.accept([arrived(good)])
        await run_until_ended(pipeline, 12)
        waited = pipeline.clock.monotonic() - began
    assert {record.interaction_id for record in pipeline.records} == {good.id}
    assert waited <= 45  # one after another, of 5 s each, they would hold up the others for 60
