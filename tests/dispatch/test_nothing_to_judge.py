"""Interactions that a judge has nothing to judge of, while its model is down: a gap is told as a gap, not as an outage."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from otel_eval.config import build_evaluators, build_judges, parse
from otel_eval.dispatch import Dispatcher
from otel_eval.evaluators.criterion import JudgeEvaluator
from otel_eval.evaluators.label_judge import LabelJudge
from otel_eval.interaction import Gap, GapKind, Interaction
from otel_eval.judges import JudgeUnavailable, ModelAnswer, ModelRequest
from otel_eval.ledger import AsyncLedger
from otel_eval.outcome import Cause, Inconclusive
from otel_eval.record import EvaluationRecord
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import GUARD, Pipeline, arrived, until

CONFIG = """
dispatch: {max_wait: 10m}
judge_models:
  one: {model: p/one}
evaluators:
  kind: {judge: {criterion: the reply is kind, requires: [tool_results]}, judge_model: one, agents: ["*"]}
  toxicity: {builtin: toxicity, judge_model: one, agents: ["*"]}
"""

SETTING = "CAPTURE_CONTENT=true"
GAP = Gap(field="reply", kind=GapKind.NOT_CAPTURED, setting=SETTING)


class Outage:
    """A dispatcher whose one model is down, and has been found to be."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.asked: list[str] = []

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Never an answer, and not to be asked for longer than max_wait."""
        self.asked.append(request.user)
        raise JudgeUnavailable("HTTP 503: overloaded", model=request.model, retry_after=1800.0)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Dispatcher]:
        """With one Interaction in its backlog that there is something to judge of."""
        config = parse(CONFIG, {})
        clock, counts = self.pipeline.clock, self.pipeline.counts
        ledger = await AsyncLedger.open(self.pipeline.url)
        judges = build_judges(config, complete=self.complete, clock=clock, guard=GUARD, recorder=counts)
        dispatcher = Dispatcher(
            config=config, evaluators=build_evaluators(config), ledger=ledger, guard=GUARD, clock=clock,
            recorder=counts, judges=judges,
        )  # fmt: skip
        with ledger.listening(self.pipeline.stored):
            async with dispatcher:
                await dispatcher.accept([arrived(interaction())])
                await until(lambda: counts.last.get("otel_eval.judge.paused") == 1)
                yield dispatcher
        await ledger.close()


def outcomes(records: list[EvaluationRecord]) -> dict[str, Inconclusive]:
    """What each evaluator said, all of it inconclusive."""
    said = {record.evaluator: record.outcome for record in records}
    assert all(isinstance(outcome, Inconclusive) for outcome in said.values())
    return said  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("one", "cause", "says"),
    [
        pytest.param(interaction(reply=" \n"), Cause.NOTHING_TO_JUDGE, "no reply", id="blank"),
        pytest.param(interaction(reply=None, gaps=(GAP,)), Cause.NOT_CAPTURED, SETTING, id="not captured"),
    ],
)
async def test_what_needs_no_model_does_not_wait_for_it(
    pipeline: Pipeline, one: Interaction, cause: Cause, says: str
) -> None:
    """Its record is there with the Interaction, with the gap and its setting; the model is not asked about it."""
    outage = Outage(pipeline)
    async with outage.running() as dispatcher:
        [accepted] = await dispatcher.accept([arrived(one)])
        said = outcomes(await pipeline.ended(2))
    assert accepted.waiting == ()
    assert {name: outcome.cause for name, outcome in said.items()} == {"kind": cause, "toxicity": cause}
    assert all(says in outcome.reason and "503" not in outcome.reason for outcome in said.values())
    assert all(record.interaction_id == one.id and record.judge_calls == () for record in pipeline.records)


async def test_one_field_that_is_required_is_missing(pipeline: Pipeline) -> None:
    """The evaluator that requires it ends at once, the other waits for its model."""
    gap = Gap(field="tool_calls", kind=GapKind.NOT_CAPTURED, setting=SETTING)
    async with Outage(pipeline).running() as dispatcher:
        [accepted] = await dispatcher.accept([arrived(interaction(gaps=(gap,)))])
        [record] = await pipeline.ended(1)
    assert [each.evaluator for each in accepted.waiting] == ["toxicity"]
    assert (
        record.describe() == f"INCONCLUSIVE judge: the reply is kind: tool calls not captured; to capture it: {SETTING}"
    )


async def test_one_that_waited_in_vain_tells_its_gap(pipeline: Pipeline) -> None:
    """Asked for again during the outage it queues with the others, and ends with its own reason after max_wait."""
    one = interaction(reply=None, gaps=(GAP,))
    async with Outage(pipeline).running() as dispatcher:
        await dispatcher.accept([arrived(one)])
        await pipeline.ended(2)
        await dispatcher.rerun(one.id)
        async with asyncio.timeout(60):
            while len(pipeline.records) < 6:
                await pipeline.clock.run_for(5)
                await asyncio.sleep(0.005)
    again = [record for record in pipeline.records if record.interaction_id == one.id and record.attempt == 1]
    others = [record for record in pipeline.records if record.interaction_id != one.id]
    assert {outcome.cause for outcome in outcomes(again).values()} == {Cause.NOT_CAPTURED}
    assert all(SETTING in outcome.reason for outcome in outcomes(again).values())
    assert {outcome.cause for outcome in outcomes(others).values()} == {Cause.JUDGE_UNAVAILABLE}


async def test_it_is_looked_for_once(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells that there is nothing to ask is the outcome itself, and is not worked out again to get it."""
    looked: list[str] = []

    def counting(kind: type[JudgeEvaluator | LabelJudge]) -> None:
        lacks = kind.lacks

        def counted(self: Any, one: Interaction) -> Inconclusive | None:
            looked.append(kind.__name__)
            return lacks(self, one)

        monkeypatch.setattr(kind, "lacks", counted)

    async with Outage(pipeline).running() as dispatcher:
        counting(JudgeEvaluator)
        counting(LabelJudge)
        await dispatcher.accept([arrived(interaction(trace_id="2" * 32, reply=" "))])
        records = await pipeline.ended(2)
    assert sorted(looked) == ["JudgeEvaluator", "LabelJudge"]
    assert all("no reply" in outcome.reason for outcome in outcomes(records).values())
