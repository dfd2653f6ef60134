"""How long a paused model keeps its evaluations waiting, and which of them it is asked about when the pause is over."""

from __future__ import annotations

import asyncio
import math

import pytest

from otel_eval.dispatch.lanes import FIRST_PAUSE, Lane
from otel_eval.dispatch.setbacks import LONGEST_TOLD, Setbacks
from otel_eval.interaction import Interaction
from otel_eval.judges import JudgeUnavailable
from otel_eval.ledger import WaitingEvaluation
from otel_eval.outcome import Cause, Inconclusive, Outcome, Passed
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import JUDGED, Asking, Pipeline, arrived, until

_SECOND_NS = 1_000_000_000


class Refusing:
    """A model that refuses its first call, asks to be left alone for that long, and answers from then on."""

    def __init__(self, retry_after: float) -> None:
        self.refusals = [JudgeUnavailable("429", model="p/one", retry_after=retry_after, rate_limited=True)]

    async def answer(self, interaction: Interaction) -> Outcome:
        if self.refusals:
            raise self.refusals.pop()
        return Passed("well", score=1.0)


async def pass_by(pipeline: Pipeline, seconds: int) -> None:
    """Let that time pass second by second; the ledger's threads, which do not know of the clock, keep up."""
    for _ in range(seconds):
        await pipeline.clock.run_for(1)
        await asyncio.sleep(0.005)


async def test_one_that_comes_to_an_empty_queue_waits_no_longer_than_the_others(pipeline: Pipeline) -> None:
    """What comes while the model is paused ends after max_wait of its own, though nothing else waits by then."""
    evaluator = Asking(pipeline.clock, Refusing(30.0).answer)
    async with pipeline.running({"j": (JUDGED, evaluator)}, dispatch={"max_wait": "5s"}) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1)
        await pass_by(pipeline, 10)
        assert len(await pipeline.ended(1)) == 1
        late = interaction()
        began = pipeline.clock.now_ns()
        await dispatcher.accept([arrived(late)])
        await pass_by(pipeline, 4)
        assert len(pipeline.records) == 1
        await pass_by(pipeline, 1)
        record = (await pipeline.ended(2))[1]
    assert (record.interaction_id, record.outcome.cause) == (late.id, Cause.JUDGE_UNAVAILABLE)
    assert record.ended_ns - began == 5 * _SECOND_NS
    assert late.id not in evaluator.calls


async def test_when_the_pause_is_over_what_waits_is_tried(pipeline: Pipeline) -> None:
    """It has not waited for max_wait yet, so that the model, which is there again, judges it."""
    evaluator = Asking(pipeline.clock, Refusing(30.0).answer)
    async with pipeline.running({"j": (JUDGED, evaluator)}, dispatch={"max_wait": "5s"}) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1)
        await pass_by(pipeline, 27)
        late = interaction()
        await dispatcher.accept([arrived(late)])
        await pass_by(pipeline, 3)
        record = (await pipeline.ended(2))[1]
    assert (record.interaction_id, record.outcome) == (late.id, Passed("well", score=1.0))


async def test_a_pause_that_ends_with_the_wait_lets_it_be_tried(pipeline: Pipeline) -> None:
    """At that moment both are over: an evaluation that the model may be asked about is not ended unasked."""
    evaluator = Asking(pipeline.clock, Refusing(30.0).answer)
    async with pipeline.running({"j": (JUDGED, evaluator)}, dispatch={"max_wait": "30s"}) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1)
        await pass_by(pipeline, 30)
        (record,) = await pipeline.ended(1)
    assert record.outcome == Passed("well", score=1.0)


async def test_an_end_in_time_does_not_hang_on_a_pause_of_no_length(pipeline: Pipeline) -> None:
    """A model that is down and says to come back at once: what has waited for max_wait ends, whoever was tried last."""

    async def down(interaction: Interaction) -> Outcome:
        await pipeline.clock.sleep_until(pipeline.clock.monotonic() + 2)
        raise JudgeUnavailable("503", model="p/one", retry_after=0.0)

    evaluator = Asking(pipeline.clock, down)
    async with pipeline.running({"j": (JUDGED, evaluator)}, dispatch={"max_wait": "9s"}) as dispatcher:
        await dispatcher.accept([arrived(interaction()) for _ in range(30)])
        await pass_by(pipeline, 15)
        records = await pipeline.ended(30)
    assert all(isinstance(record.outcome, Inconclusive) for record in records)


@pytest.mark.parametrize(
    ("told", "pause"),
    [
        (None, FIRST_PAUSE),
        (0.0, 0.0),
        (42.0, 42.0),
        (LONGEST_TOLD, LONGEST_TOLD),
        (86_400.0, LONGEST_TOLD),
        (1e12, LONGEST_TOLD),
        (math.inf, FIRST_PAUSE),
        (-math.inf, FIRST_PAUSE),
        (math.nan, FIRST_PAUSE),
        (-1.0, FIRST_PAUSE),
    ],
)
def test_how_long_a_pause_is(told: float | None, pause: float) -> None:
    """As long as the provider said, an hour at most; what is no length of time counts as not said."""
    lane = Lane(name="model:p/one", limit=4)
    assert lane.pause(JudgeUnavailable("429", model="p/one", retry_after=told), 100.0, 0)
    assert lane.paused_until == 100.0 + pause


@pytest.mark.parametrize("told", [math.inf, math.nan, -1.0])
def test_no_length_of_time_does_not_speak_of_the_model(told: float) -> None:
    """A failure with such a Retry-After is the evaluation's own where the model answers others."""
    setbacks = Setbacks()
    setbacks.answered(11.0)
    trouble = JudgeUnavailable("HTTP 503", model="m", retry_after=told)
    assert setbacks.failed("e", trouble, began=10.0, now=12.0, now_ns=0)


async def test_a_wait_for_ever_ends_in_one_more_try(pipeline: Pipeline) -> None:
    """Retry-After may say a day or more: after an hour one call asks again, and the backlog is judged."""
    evaluator = Asking(pipeline.clock, Refusing(1e12).answer)
    async with pipeline.running({"j": (JUDGED, evaluator)}, dispatch={"max_wait": "2h"}) as dispatcher:
        await dispatcher.accept([arrived(interaction()) for _ in range(3)])
        await until(lambda: pipeline.counts.last.get("otel_eval.judge.paused") == 1 and evaluator.now == 0)
        before = len(evaluator.calls)
        await pipeline.clock.run_for(LONGEST_TOLD - 1)
        assert len(evaluator.calls) == before
        await pipeline.clock.run_for(2)
        records = await pipeline.ended(3)
    assert {record.outcome.name for record in records} == {"passed"}


def test_what_is_being_ended_is_not_queued_again() -> None:
    """The ledger lists it until its record is stored; what the ledger says meanwhile does not bring it back."""
    lane, trouble = Lane(name="model:p/one", limit=4), JudgeUnavailable("503", model="p/one")
    old, new = (
        WaitingEvaluation(
            evaluation_id=name, interaction_id=name, evaluator="j", evaluator_version="1", check="judge", revision=1,
            enqueued_ns=enqueued_ns,
        )
        for name, enqueued_ns in (("old", 0), ("new", 9))
    )  # fmt: skip
    lane.add(old)
    lane.pause(trouble, 0.0, 0)
    assert lane.take_expired(10, 10) == [old]
    lane.filled([old, new], lane.start_filling(), whole=True)
    assert lane.upcoming(9) == [new]
    lane.end(old)
    assert lane.next_expiry_ns(10) == 19


def waiting(interaction_id: str, evaluator: str) -> WaitingEvaluation:
    return WaitingEvaluation(
        evaluation_id=f"{interaction_id}-{evaluator}",
        interaction_id=interaction_id,
        evaluator=evaluator,
        evaluator_version="1",
        check="judge",
    )


def probe(lane: Lane, now: float) -> tuple[str, float | None]:
    """End the pause, have the next one fail: which it was, and for how long the lane is paused after that."""
    lane.paused_until = None
    item = lane.start()
    lane.put_back(item)
    assert lane.pause(JudgeUnavailable("500", model="p/one"), now, 0)
    return item.evaluation_id, None if lane.paused_until is None else lane.paused_until - now


def test_a_paused_model_is_asked_about_others_first() -> None:
    """Then about other evaluations of those that failed, which is no reason to pause longer; then again, longer each time."""
    lane = Lane(name="model:p/one", limit=4)
    for item in (waiting("a", "x"), waiting("a", "y"), waiting("a", "z"), waiting("b", "x"), waiting("c", "x")):
        lane.add(item)
    assert [probe(lane, 0.0) for _ in range(7)] == [
        ("a-x", 5.0),
        ("b-x", 10.0),
        ("c-x", 20.0),
        ("a-y", 20.0),
        ("a-z", 20.0),
        ("a-x", 40.0),
        ("b-x", 60.0),
    ]
    lane.paused_until = None
    lane.start()
    assert lane.answered(1.0)
    assert probe(lane, 0.0) == ("a-y", 5.0)
