"""Kills from outside at intervals convict nobody, what kills by itself is convicted: life after life, on a clock
turned by hand."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path

import pytest

from otel_eval.crashes import DEATHS, Caution, take_stock
from otel_eval.crashes.notes import FILE as NOTES
from otel_eval.crashes.suspects import Suspects
from otel_eval.dispatch.execution import Execution
from otel_eval.dispatch.isolation import Isolated
from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.identity import evaluation_id
from otel_eval.interaction import Interaction
from otel_eval.ledger import WaitingEvaluation
from otel_eval.outcome import Outcome, Passed
from otel_eval.record import EvaluationRecord
from otel_eval.testing.clock import ManualClock
from otel_eval.testing.interactions import interaction

AT_ONCE = 8
"""Of an evaluator, in each life."""


class Lasting(Evaluator):
    """Passes after so many seconds; on a poisoned reply its process dies instead."""

    check = "lasting"

    def __init__(self, world: World, seconds: float, *, asks_model: bool) -> None:
        self._world = world
        self._seconds = seconds
        self.asks_model = asks_model

    @property
    def version(self) -> str:
        return "1"

    async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        clock = self._world.clock
        await clock.sleep_until(clock.monotonic() + self._seconds)
        if interaction.reply == "poison":
            self._world.dies.set()
            await asyncio.Event().wait()
        return Passed("well done", score=1.0)


class World:
    """What outlives a process that judges: the clock, the directory, and what waits (in the order in which it came)."""

    def __init__(self, directory: Path, replies: list[str], *, seconds: float) -> None:
        self.clock = ManualClock()
        self.dies = asyncio.Event()
        self.ended: list[EvaluationRecord] = []
        self.deaths = 0
        self._directory = directory
        judge = Lasting(self, seconds, asks_model=True)
        custom = Isolated(Lasting(self, seconds, asks_model=False), timeout=600)
        traffic = [
            interaction(trace_id=f"{number:032x}", span_id=f"{number:016x}", reply=reply)
            for number, reply in enumerate(replies, 1)
        ]
        self._evaluators: dict[str, Evaluator] = {"custom": custom}
        if "poison" not in replies:
            self._evaluators["judge"] = judge
        self._waiting = {name: {each.id: each for each in traffic} for name in self._evaluators}

    @property
    def is_done(self) -> bool:
        return not any(self._waiting.values())

    async def live(self, seconds: float) -> None:
        """A process judges for so long, or until it dies by itself, and is killed: its notes stay as they are."""
        self.dies.clear()
        caution = Caution.begin(self._directory, at_once=2 * AT_ONCE, clock=self.clock)
        caution.start()
        execution = Execution(clock=self.clock, caution=caution)
        queues = {name: deque(waiting.values()) for name, waiting in self._waiting.items()}
        tasks = [
            asyncio.create_task(self._work(execution, name, queue))
            for name, queue in queues.items()
            for _ in range(AT_ONCE)
        ]
        end = self.clock.monotonic() + seconds
        while (left := end - self.clock.monotonic()) > 0 and not self.dies.is_set() and not self.is_done:
            await self.clock.run_for(min(left, 0.5))
        notes = (self._directory / NOTES).read_bytes()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        caution.close()
        (self._directory / NOTES).write_bytes(notes)
        take_stock(self._directory, self.clock.now_ns())
        self.deaths += 1

    async def _work(self, execution: Execution, name: str, queue: deque[Interaction]) -> None:
        evaluator = self._evaluators[name]
        while queue:
            each = queue.popleft()
            waiting = WaitingEvaluation(
                evaluation_id=evaluation_id(interaction_id=each.id, evaluator=name, evaluator_version="1"),
                interaction_id=each.id,
                evaluator=name,
                evaluator_version="1",
                check=evaluator.check,
            )
            self.ended.append(await execution.queued(evaluator, each, waiting))
            del self._waiting[name][each.id]


@pytest.mark.parametrize("seconds", [1.0, 4.0])
@pytest.mark.parametrize("period", [5.5, 6.5, 11.0, 20.5, 30.0, 81.0])
async def test_ten_kills_at_intervals_convict_nobody(tmp_path: Path, period: float, seconds: float) -> None:
    """Of a judge and a custom evaluator: whenever the kills come and however long it takes, all of theirs passes at last.

    Two that come early have made suspects of all that is first, which then takes its turns alone.
    """
    world = World(tmp_path, ["fine"] * 200, seconds=seconds)
    for lasts in (0.5, 0.5, *[period] * 10):
        await world.live(lasts)
    await world.live(3600)
    assert world.is_done
    assert {record.outcome.name for record in world.ended} == {"passed"}
    assert len(world.ended) == 400
    assert Suspects.load(tmp_path) == Suspects()


async def test_a_judge_goes_on_between_the_kills(tmp_path: Path) -> None:
    """It is suspected of nothing, so it waits for nothing: only what is under way is asked again."""
    world = World(tmp_path, ["fine"] * 200, seconds=1.0)
    for lasts in (0.5, 0.5, *[6.5] * 5):
        await world.live(lasts)
    judged = [record for record in world.ended if record.evaluator == "judge"]
    assert len(judged) == 200


@pytest.mark.parametrize("seconds", [0.0, 1.0, 4.0])
async def test_what_kills_by_itself_is_convicted_nonetheless(tmp_path: Path, seconds: float) -> None:
    """Of two poisoned ones among many each takes what its conviction takes, and nobody else is left out."""
    replies = ["fine"] * 60
    replies[10] = replies[40] = "poison"
    world = World(tmp_path, replies, seconds=seconds)
    while not world.is_done:
        await world.live(3600)
        assert world.deaths <= 2 * DEATHS + 1
    errors = [record.interaction_id for record in world.ended if record.outcome.name == "error"]
    assert sorted(errors) == [f"{number:032x}-{number:016x}" for number in (11, 41)]
    assert len(world.ended) == 60
