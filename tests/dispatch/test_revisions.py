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


async def test_revisions_go_on_under_a_new_id(pipeline: Pipeline) -> None:
    """The verdict on the newest evidence is the current one, whatever id it came under; it counts as revised, not twice."""
    old = interaction(reply="no")
    new = interaction(trace_id=old.trace_id, reply="ok")
    async with pipeline.running({"e": (EXACT, Exact())}) as dispatcher:
        await dispatcher.accept([arrived(old)])
        (accepted,) = await dispatcher.accept([arrived(new, "d2")], aliases={old.id: new.id})
        assert accepted.revision == 2
        await pipeline.ended(2)
        (current,) = pipeline.ledger.ledger.current(interaction_id=old.id)
    assert (current.interaction_id, current.revision, current.outcome.name) == (new.id, 2, "passed")
    assert pipeline.counts.total["otel_eval.interactions"] == 1
    assert pipeline.counts.by["otel_eval.evaluation.revised", "failed"] == 1


async def test_a_new_id_alone_asks_no_judge_again(pipeline: Pipeline) -> None:
    """What the judge is shown did not change, so that its verdict holds; neither is it asked at the revision after."""
    old = interaction()
    new = dataclasses.replace(interaction(trace_id=old.trace_id), asked=old.asked, reply=old.reply)
    evaluator = Asking(pipeline.clock)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(old)])
        await pipeline.ended(1)
        (accepted,) = await dispatcher.accept([arrived(new, "d2")], aliases={old.id: new.id})
        assert (accepted.revision, accepted.waiting) == (2, ())
        (accepted,) = await dispatcher.accept([arrived(new, "d3")])
        assert (accepted.revision, accepted.waiting) == (3, ())
    assert evaluator.calls == [old.id]


async def test_what_was_sampled_out_stays_out_under_a_new_id(pipeline: Pipeline) -> None:
    """The id that was handed out first decides, at all revisions."""
    entry = {**EXACT, "agents": {"*": {"sampling_ratio": 0.5}}}
    evaluator = Exact()
    async with pipeline.running({"e": (entry, evaluator)}) as dispatcher:
        dispositions = []
        for _ in range(20):
            old = interaction()
            new = interaction(trace_id=old.trace_id)
            for batch in ([arrived(old)], [arrived(new, "d2")], [arrived(new, "d3")]):
                aliases = {old.id: new.id} if batch[0].digest == "d2" else None
                dispositions += [each.disposition for each in await dispatcher.accept(batch, aliases)]
    thirds = [dispositions[start::3] for start in range(3)]
    assert thirds[0] == thirds[1] == thirds[2]
    assert len(set(thirds[0])) == 2


async def test_aliases_go_into_the_ledger(pipeline: Pipeline) -> None:
    """An id that was handed out before finds the Interaction under its new one."""
    one = interaction()
    async with pipeline.running({}) as dispatcher:
        await dispatcher.accept([arrived(one)], aliases={"old-id": one.id})
        assert (await pipeline.ledger.interaction("old-id")).id == one.id
