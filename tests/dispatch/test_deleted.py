"""What is deleted is neither judged nor kept, however far its evaluation has come."""

from __future__ import annotations

import asyncio

from otel_eval.interaction import Interaction
from otel_eval.outcome import Outcome, Passed
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import EXACT, JUDGED, Asking, Exact, Pipeline, arrived, until


async def test_what_was_deleted_is_not_sent_to_a_judge(pipeline: Pipeline) -> None:
    """An Interaction that is deleted while it waits is neither judged nor kept waiting."""
    gate = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await gate.wait()
        return Passed("yes")

    kept, deleted = interaction(), interaction()
    models = {"p/one": {"model": "p/one", "max_concurrency": 1}}
    evaluator = Asking(pipeline.clock, held)
    async with pipeline.running({"j": (JUDGED, evaluator)}, judge_models=models) as dispatcher:
        await dispatcher.accept([arrived(kept)])
        await dispatcher.accept([arrived(deleted)])
        await pipeline.ledger.delete(interaction=deleted.id)
        gate.set()
        await pipeline.ended(1)
        await until(lambda: pipeline.ledger.ledger.waiting() == ())
    assert evaluator.calls == [kept.id]


async def test_what_is_deleted_after_it_was_read_ahead_is_not_sent_to_a_judge(pipeline: Pipeline) -> None:
    """The next ones in the queue are read with the one whose turn it is; deleting holds for them all the same."""
    gate = asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        await gate.wait()
        return Passed("yes")

    kept, deleted = interaction(), interaction()
    models = {"p/one": {"model": "p/one", "max_concurrency": 1}}
    evaluator = Asking(pipeline.clock, held)
    async with pipeline.running({"j": (JUDGED, evaluator)}, judge_models=models) as dispatcher:
        await dispatcher.accept([arrived(kept), arrived(deleted)])
        await until(lambda: evaluator.now == 1)
        await pipeline.ledger.delete(interaction=deleted.id)
        gate.set()
        await pipeline.ended(1)
        await until(lambda: pipeline.ledger.ledger.waiting() == ())
    assert evaluator.calls == [kept.id]


async def test_what_is_deleted_while_it_is_judged_leaves_no_record(pipeline: Pipeline) -> None:
    """The judge's words quote the conversation: they go as well, and are neither exported nor counted."""
    judging, gate = asyncio.Event(), asyncio.Event()

    async def held(interaction: Interaction) -> Outcome:
        judging.set()
        await gate.wait()
        return Passed("it says: my number is 42")

    kept, deleted = interaction(), interaction()
    evaluators = {"j": (JUDGED, Asking(pipeline.clock, held)), "e": (EXACT, Exact())}
    async with pipeline.running(evaluators) as dispatcher:
        await dispatcher.accept([arrived(deleted)])
        await judging.wait()
        await pipeline.ledger.delete(interaction=deleted.id)
        await dispatcher.accept([arrived(kept)])
        gate.set()
        await until(lambda: {each.interaction_id for each in pipeline.records if each.evaluator == "j"} != set())
        await until(lambda: pipeline.ledger.ledger.waiting() == ())
        stored = list(pipeline.ledger.ledger.records())
        assert {record.interaction_id for record in stored} == {kept.id}
        assert {entry.record.interaction_id for entry in pipeline.ledger.ledger.unexported()} == {kept.id}
    assert [record.interaction_id for record in pipeline.records if record.evaluator == "j"] == [kept.id]
    assert pipeline.counts.by["otel_eval.evaluations", "j"] == 1
