"""Evidence that came late: what is judged again, and what stands."""

from __future__ import annotations

import asyncio
import dataclasses

from otel_eval.interaction import Interaction
from otel_eval.outcome import Failed, Outcome, Passed
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import EXACT, JUDGED, Asking, Exact, Pipeline, arrived, until


async def test_the_same_evidence_again_changes_nothing(pipeline: Pipeline) -> None:
    """Replayed telemetry is neither judged nor counted again."""
    evaluator, one = Exact(), interaction()
    async with pipeline.running({"e": (EXACT, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(one), arrived(one)])
        assert await dispatcher.accept([arrived(one)]) == ()
    assert evaluator.calls == [one.id]
    assert pipeline.counts.total["otel_eval.interactions"] == pipeline.counts.total["otel_eval.evaluations"] == 1


async def test_a_newer_revision_takes_the_place_of_a_waiting_older_one(pipeline: Pipeline) -> None:
    """What waited for the older evidence is not judged; the newer one is, and keeps its place as the current record."""
    gate = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await gate.wait()
        return Passed(interaction.reply or "")

    one = interaction(reply="first")
    models = {"p/one": {"model": "p/one", "max_concurrency": 1}}
    evaluator = Asking(pipeline.clock, held)
    async with pipeline.running({"j": (JUDGED, evaluator)}, judge_models=models) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        await until(lambda: evaluator.now == 1)
        await dispatcher.accept([arrived(one, "d1")])
        await dispatcher.accept([arrived(dataclasses.replace(one, reply="second"), "d2")])
        gate.set()
        await pipeline.ended(2)
        (record,) = pipeline.ledger.ledger.evaluations(one.id)
    assert (record.revision, record.outcome) == (2, Passed("second"))
    assert pipeline.counts.total["otel_eval.interactions"] == 2


async def test_a_verdict_stands_while_its_evidence_stays(pipeline: Pipeline) -> None:
    """A revision that changes nothing a judge is shown is not judged again; one that does is, and counts as revised."""
    judged = iter([Passed("yes"), Failed("no")])

    async def answer(interaction: Interaction) -> Outcome:
        return next(judged)

    one = interaction(reply="ok")
    evaluator = Asking(pipeline.clock, answer)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(one)])
        await pipeline.ended(1)
        later = dataclasses.replace(one, ended_ns=one.ended_ns + 5)
        (accepted,) = await dispatcher.accept([arrived(later, "d2")])
        assert (accepted.revision, accepted.waiting) == (2, ())
        await dispatcher.accept([arrived(dataclasses.replace(later, reply="other"), "d3")])
        await pipeline.ended(2)
    assert len(evaluator.calls) == 2
    assert pipeline.counts.by["otel_eval.evaluation.revised", "failed"] == 1
    assert pipeline.counts.total["otel_eval.evaluations"] == 1


async def test_an_interaction_under_a_new_id_is_judged_once(pipeline: Pipeline) -> None:
    """What waited under the old id is let go: the new one has evaluations of its own."""
    gate = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await gate.wait()
        return Passed("yes")

    first, old, new = interaction(), interaction(), interaction()
    models = {"p/one": {"model": "p/one", "max_concurrency": 1}}
    evaluator = Asking(pipeline.clock, held)
    async with pipeline.running({"j": (JUDGED, evaluator)}, judge_models=models) as dispatcher:
        await dispatcher.accept([arrived(first)])
        await dispatcher.accept([arrived(old)])
        await dispatcher.accept([arrived(new)], aliases={old.id: new.id})
        gate.set()
        await pipeline.ended(2)
        await until(lambda: pipeline.ledger.ledger.waiting() == ())
    assert evaluator.calls == [first.id, new.id]


async def test_aliases_go_into_the_ledger(pipeline: Pipeline) -> None:
    """An id that was handed out before finds the Interaction under its new one."""
    one = interaction()
    async with pipeline.running({}) as dispatcher:
        await dispatcher.accept([arrived(one)], aliases={"old-id": one.id})
        assert (await pipeline.ledger.interaction("old-id")).id == one.id
