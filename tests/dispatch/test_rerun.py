"""Judging many stored Interactions again: all of them or none, whatever becomes of whoever asked."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import EXACT, Exact, Pipeline, arrived


async def test_one_that_is_not_there_leaves_the_others_alone(pipeline: Pipeline) -> None:
    """Nothing is queued, nor where an evaluator is unknown."""
    one = interaction()
    async with pipeline.running({"e": (EXACT, Exact())}) as dispatcher:
        assert dispatcher.evaluators == ("e",)
        await dispatcher.accept([arrived(one)])
        for ids, evaluators in (([one.id, "unknown"], ["e"]), ([one.id], ["e", "nobody"])):
            with pytest.raises(KeyError):
                await dispatcher.rerun_all(ids, evaluators)
        assert (await pipeline.ledger.backlog()).count == 0
        assert len(await pipeline.ledger.evaluations(one.id)) == 1


async def test_two_ids_of_one_interaction_are_one(pipeline: Pipeline) -> None:
    """An alias beside the id that it means: it is judged once more, not told twice."""
    one = interaction()
    async with pipeline.running({"e": (EXACT, Exact())}) as dispatcher:
        await dispatcher.accept([arrived(one)], aliases={"old-id": one.id})
        queued = await dispatcher.rerun_all(["old-id", one.id], ["e"])
        assert [(each.interaction_id, each.attempt) for each in queued] == [(one.id, 1)]


async def test_whoever_asked_may_go_away(pipeline: Pipeline) -> None:
    """A caller's deadline ends its call, not what it began: what is queued is run, and not first after the next start."""
    one, other = interaction(), interaction()
    async with pipeline.running({"e": (EXACT, Exact())}) as dispatcher:
        await dispatcher.accept([arrived(one), arrived(other)])
        asking = asyncio.create_task(dispatcher.rerun_all([one.id, other.id], ["e"]))
        await asyncio.sleep(0)
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
        records = (await pipeline.ended(4))[2:]
    assert {(record.interaction_id, record.attempt) for record in records} == {(one.id, 1), (other.id, 1)}
