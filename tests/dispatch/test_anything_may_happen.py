"""Revisions, replays, outages and crashes in any order: in the end the newest evidence has its one verdict."""

from __future__ import annotations

import asyncio
import dataclasses
import random

import pytest

from otel_eval.interaction import Interaction
from otel_eval.judges.errors import JudgeUnavailable
from otel_eval.outcome import Evaluation, Outcome, Passed
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import CUSTOM, EXACT, JUDGED, Asking, Exact, Pipeline, arrived, until


class Trouble:
    """A judge that is sometimes down, sometimes slow, and says in the end which reply it saw."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.calm = False

    async def answer(self, one: Interaction) -> Outcome:
        for _ in range(self.chance.randrange(4)):
            await asyncio.sleep(0)
        if not self.calm and self.chance.random() < 0.2:
            raise JudgeUnavailable("503", model="p/one", retry_after=self.chance.choice([None, 0.0, 3.0]))
        return Passed(one.reply or "", score=1.0)


@pytest.mark.parametrize("seed", range(3))
async def test_the_newest_evidence_has_its_verdict(pipeline: Pipeline, seed: int) -> None:
    """For every Interaction and evaluator the current record is about the last revision; nothing is left waiting."""
    chance = random.Random(seed)
    trouble = Trouble(chance)
    latest = {each.id: each for each in (interaction(reply="reply 0") for _ in range(25))}
    versions = dict.fromkeys(latest, 0)

    def evaluators() -> dict[str, tuple[dict[str, object], object]]:
        judges = {
            name: (entry, Asking(pipeline.clock, trouble.answer)) for name, entry in (("j", JUDGED), ("u", CUSTOM))
        }
        return {"e": (EXACT, Exact()), **judges}

    def revise(name: str) -> None:
        versions[name] += 1
        latest[name] = dataclasses.replace(latest[name], reply=f"reply {versions[name]}")

    for life in range(4):
        trouble.calm = life == 3
        async with pipeline.running(evaluators(), crash=life < 3, dispatch={"max_concurrency": 5}) as dispatcher:
            for _ in range(15):
                for name in chance.sample(sorted(latest), 5):
                    revise(name)
                batch = chance.sample(sorted(latest), 8)
                accepting = [
                    dispatcher.accept([arrived(latest[name], str(versions[name])) for name in part])
                    for part in (batch[:5], batch[3:])
                ]
                await asyncio.gather(*accepting)
                await pipeline.clock.run_for(chance.choice([0.0, 1.0, 10.0]))
            if trouble.calm:
                await dispatcher.accept([arrived(each, str(versions[name])) for name, each in latest.items()])
                await pipeline.clock.run_for(200)
                await until(lambda: pipeline.ledger.ledger.waiting() == ())
                current = list(pipeline.ledger.ledger.current())
                backlog = pipeline.ledger.ledger.backlog()
    assert backlog.count == 0
    seen = {(record.interaction_id, record.evaluator): record.outcome for record in current}
    assert len(current) == len(seen) == 25 * 3
    judged = {key: outcome for key, outcome in seen.items() if key[1] != "e"}
    assert all(isinstance(outcome, Evaluation) for outcome in seen.values())
    assert {key: getattr(outcome, "explanation", None) for key, outcome in judged.items()} == {
        (name, evaluator): latest[name].reply for name in latest for evaluator in ("j", "u")
    }
