"""A binding whose traffic is our own judge's calls stops; honest traffic never does."""

from __future__ import annotations

import dataclasses

import pytest

from otel_eval.dispatch.feedback import STREAK, Feedback
from otel_eval.interaction import Interaction
from otel_eval.outcome import Passed
from otel_eval.record import EvaluationRecord, JudgeCall
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import JUDGED, Asking, Pipeline, arrived

START = 1_750_000_000_000_000_000
SECOND = 1_000_000_000


def judged(one: Interaction, started: int, ended: int) -> EvaluationRecord:
    call = JudgeCall(conversation_id="c", requested_model="m", started_ns=started, ended_ns=ended)
    return EvaluationRecord(
        id="e", interaction_id=one.id, trace_id=one.trace_id, span_id=one.span_id, agent=one.agent, session=None,
        evaluator="polite", evaluator_version="1", check="judge", outcome=Passed("x"), judge_calls=(call,),
    )  # fmt: skip


def call_seen_from_outside(one: Interaction, started: int, **fields: object) -> Interaction:
    """The Interaction that an instrumented gateway makes of the judge call about ``one``."""
    seen = {"asked": f"Criterion:\nbe polite\n\nThe agent replied:\n{one.reply}", "started_ns": started, **fields}
    return interaction(**{"seconds": 1.0, **seen})


def run_loop(feedback: Feedback, count: int, **fields: object) -> list[tuple[str, ...]]:
    """A chain in which each Interaction is the judge call about the one before it."""
    one, stops = interaction(reply="It was delivered yesterday."), []
    for turn in range(count):
        started = START + turn * 10 * SECOND
        feedback.judged(judged(one, started, started + 2 * SECOND), one)
        one = call_seen_from_outside(one, started + SECOND // 2, **fields)
        stops.append(feedback.arrived(["polite"], one))
    return stops


def test_a_loop_stops_and_says_so_once() -> None:
    """After a row of Interactions that are judge calls of ours, and not before."""
    feedback = Feedback()
    stops = run_loop(feedback, STREAK + 3)
    assert stops == [()] * (STREAK - 1) + [("polite",)] + [()] * 3
    assert feedback.stopped("polite", "support-agent")
    assert not feedback.stopped("polite", "another")
    assert not feedback.stopped("other", "support-agent")


@pytest.mark.parametrize(
    "fields",
    [
        {"asked": "Where is my order?"},
        {"asked": None},
        {"seconds": 30.0},
        {"started_ns": START - 100 * SECOND},
    ],
    ids=["quotes nothing", "nothing captured", "longer than the call", "before the call"],
)
def test_honest_traffic_goes_on(fields: dict[str, object]) -> None:
    """Quoting the reply and lying inside the call, both are needed."""
    feedback = Feedback()
    run_loop(feedback, 3 * STREAK, **fields)
    assert not feedback.stopped("polite", "support-agent")


def test_one_honest_interaction_starts_the_count_anew() -> None:
    """Chance matches in mixed traffic do not add up."""
    feedback = Feedback()
    for _ in range(5):
        run_loop(feedback, STREAK - 1)
        feedback.arrived(["polite"], interaction(started_ns=START))
    assert not feedback.stopped("polite", "support-agent")


async def test_the_dispatcher_ends_a_loop(pipeline: Pipeline, caplog: pytest.LogCaptureFixture) -> None:
    """Judge calls that come back without any mark of ours are judged a bounded number of times."""
    evaluator = Asking(pipeline.clock)
    one = interaction(reply="It was delivered yesterday.", started_ns=pipeline.clock.now_ns(), seconds=0.5)
    async with pipeline.running({"polite": (JUDGED, evaluator)}) as dispatcher:
        for turn in range(2 * STREAK):
            await dispatcher.accept([arrived(one)])
            if len(evaluator.calls) <= turn and turn >= STREAK:
                break
            await pipeline.ended(turn + 1)
            one = call_seen_from_outside(one, pipeline.clock.now_ns(), seconds=0.5)
            one = dataclasses.replace(one, agent="support-agent")
    assert len(evaluator.calls) == STREAK
    assert "judges agent support-agent no more" in caplog.text
    assert pipeline.counts.by["otel_eval.interactions", "dropped"] >= 1
