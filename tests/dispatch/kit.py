"""A dispatcher on a real SQLite ledger, with a clock turned by hand and evaluators that do as they are told."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from otel_eval.config import parse
from otel_eval.crashes import Caution
from otel_eval.dispatch import Dispatcher
from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.instruments import BY_NAME
from otel_eval.interaction import Interaction
from otel_eval.ledger import AsyncLedger, Stored, StoredInteraction
from otel_eval.loop_guard import LoopGuard
from otel_eval.outcome import Failed, Outcome, Passed
from otel_eval.record import EvaluationRecord, JudgeCall
from otel_eval.testing.clock import ManualClock

GUARD = LoopGuard(b"sixteen bytes at least")

EXACT = {"check": "should_not_fail", "agents": ["*"]}
JUDGED = {"judge": {"criterion": "it is so"}, "judge_model": "p/one", "agents": ["*"]}
CUSTOM = {"use": "package:Custom", "agents": ["*"]}


def arrived(interaction: Interaction, digest: str = "d1") -> StoredInteraction:
    """An Interaction as assembly hands it over; the dispatcher finds out the revision."""
    return StoredInteraction(interaction=interaction, revision=0, digest=digest)


class Exact(Evaluator):
    """Passes where the reply says ok."""

    check = "says-ok"

    def __init__(self) -> None:
        self.calls: list[str] = []

    @property
    def version(self) -> str:
        return "1"

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        self.calls.append(interaction.id)
        return Passed("ok", score=1.0) if "ok" in (interaction.reply or "") else Failed("not ok", score=0.0)


Answer = Callable[[Interaction], Awaitable[Outcome]]


async def well(interaction: Interaction) -> Outcome:
    """The answer of a judge that likes everything."""
    return Passed("well done", score=0.9)


class Asking(Evaluator):
    """Asks a model: the function that it was given."""

    check = "judge"
    asks_model = True

    def __init__(self, clock: ManualClock, answer: Answer = well, version: str = "1") -> None:
        self.clock = clock
        self.answer = answer
        self.calls: list[str] = []
        self.now = 0
        self.most = 0
        self.version_given = version

    @property
    def version(self) -> str:
        return self.version_given

    async def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome:
        self.calls.append(interaction.id)
        self.now += 1
        self.most = max(self.most, self.now)
        started = self.clock.now_ns()
        try:
            outcome = await self.answer(interaction)
        finally:
            self.now -= 1
        call = JudgeCall(
            conversation_id=f"{context.evaluation_id}-judge",
            requested_model="p/one",
            started_ns=started,
            ended_ns=self.clock.now_ns(),
        )
        context.judge_calls.append(call)
        return outcome


class Counts:
    """A recorder that adds up, by name and by (name, label value)."""

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self.by: Counter[tuple[str, str]] = Counter()
        self.last: dict[str, float] = {}

    def record(
        self,
        name: str,
        amount: float = 1,
        labels: Mapping[str, str] | None = None,
        *,
        judged: tuple[str, str] | None = None,
    ) -> None:
        assert set(labels or {}) <= set(BY_NAME[name].labels), name
        self.last[name] = amount
        times = int(amount) if BY_NAME[name].kind == "counter" and float(amount).is_integer() else 1
        self.total[name] += times
        for value in (labels or {}).values():
            self.by[name, value] += times


class Pipeline:
    """A dispatcher and what stands around it. Several may run one after the other on the same ledger."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = ManualClock()
        self.counts = Counts()
        self.records: list[EvaluationRecord] = []
        self._arrived = asyncio.Event()

    @contextlib.asynccontextmanager
    async def running(
        self,
        evaluators: Mapping[str, tuple[Mapping[str, Any], Evaluator]],
        *,
        crash: bool = False,
        caution: Caution | None = None,
        **sections: Any,
    ) -> AsyncIterator[Dispatcher]:
        """``evaluators``: id to entry of the configuration and evaluator. ``crash`` leaves without stopping."""
        config = parse({"evaluators": {name: dict(entry) for name, (entry, _) in evaluators.items()}, **sections}, {})
        ledger = await AsyncLedger.open(self.url)
        dispatcher = Dispatcher(
            config=config,
            evaluators={name: evaluator for name, (_, evaluator) in evaluators.items()},
            ledger=ledger,
            guard=GUARD,
            clock=self.clock,
            recorder=self.counts,
            caution=caution,
        )
        self.ledger = ledger
        with ledger.listening(self.stored):
            await dispatcher.start()
            try:
                yield dispatcher
            finally:
                if crash:
                    await _abandon()
                else:
                    stopping = asyncio.ensure_future(dispatcher.stop())
                    await self.clock.run_for(20)
                    await stopping
                await ledger.close()

    async def ended(self, count: int) -> list[EvaluationRecord]:
        """The first ``count`` records, once there are that many."""
        async with asyncio.timeout(60):
            while len(self.records) < count:
                self._arrived.clear()
                await self._arrived.wait()
        return self.records[:count]

    def stored(self, stored: tuple[Stored, ...]) -> None:
        """Listens to the ledger."""
        self.records += [each.record for each in stored]
        self._arrived.set()


async def _abandon() -> None:
    """Cancel all other tasks, and those that these start as they end, so that none outlives its loop."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in others:
            task.cancel()
        await asyncio.wait(others)


async def until(condition: Callable[[], bool]) -> None:
    """Return once the condition holds; other tasks run meanwhile."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - gives other tasks their turn, waits for no time
            await asyncio.sleep(0)
