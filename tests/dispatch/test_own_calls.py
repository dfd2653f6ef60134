"""Calls of our own judges are never judged, wherever they are found."""

from __future__ import annotations

from otel_eval.interaction import Interaction
from otel_eval.ledger import Batch, StoredInteraction, WaitingEvaluation
from otel_eval.outcome import Cause
from otel_eval.record import EvaluationRecord
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import EXACT, GUARD, JUDGED, Asking, Exact, Pipeline, arrived


async def test_judge_calls_of_ours_are_not_judged(pipeline: Pipeline) -> None:
    """By their trace, and in a foreign trace by their system message: not stored, not judged, counted as dropped."""
    own_trace = interaction(trace_id=GUARD.trace_id("some evaluation"))
    own_text = interaction(system=f"You judge. {GUARD.fingerprint('some evaluation')}")
    quoting = interaction(asked=f"What is {GUARD.fingerprint('some evaluation')}?")
    evaluator = Exact()
    async with pipeline.running({"e": (EXACT, evaluator)}) as dispatcher:
        accepted = await dispatcher.accept([arrived(each) for each in (own_trace, own_text, quoting)])
    assert [each.interaction.id for each in accepted] == evaluator.calls == [quoting.id]
    assert pipeline.counts.by["otel_eval.interactions", "dropped"] == 2


def _batch(one: Interaction, like: EvaluationRecord) -> Batch:
    waiting = WaitingEvaluation(
        evaluation_id="f" * 32,
        interaction_id=one.id,
        evaluator=like.evaluator,
        evaluator_version=like.evaluator_version,
        check=like.check,
    )
    return Batch(interactions=(StoredInteraction(interaction=one, revision=1, digest="d"),), waiting=(waiting,))


async def test_a_call_of_ours_that_was_queued_is_found_when_it_runs(pipeline: Pipeline) -> None:
    """The guard is asked again before a judge is: rows of an earlier start may have been stored without it."""
    own = interaction(trace_id=GUARD.trace_id("some evaluation"))
    evaluator = Asking(pipeline.clock)
    async with pipeline.running({"j": (JUDGED, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(interaction())])
        await pipeline.ended(1)
        (waited,) = pipeline.records
        await pipeline.ledger.commit(_batch(own, waited))
    async with pipeline.running({"j": (JUDGED, evaluator)}):
        records = await pipeline.ended(2)
    assert records[1].outcome.cause is Cause.LOOP_GUARD
    assert len(evaluator.calls) == 1
