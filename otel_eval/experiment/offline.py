"""Judging Interactions that are there already: recorded telemetry, with the evaluators of a configuration."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import replace

from otel_eval.dispatch.bindings import Decision, Reason
from otel_eval.evaluators.at_hand import AtHand
from otel_eval.evaluators.contract import EvaluationContext, Evaluator, run
from otel_eval.experiment.judging import Isolation
from otel_eval.experiment.plan import Configured
from otel_eval.identity import evaluation_id
from otel_eval.interaction import Interaction
from otel_eval.record import EvaluationRecord, Origin


async def judge(
    interactions: Iterable[Interaction],
    configured: Configured,
    *,
    unsampled: bool = False,
    concurrency: int = 8,
    wants: Callable[[Interaction], bool] = lambda _: True,
) -> AsyncIterator[tuple[Interaction, tuple[EvaluationRecord, ...], tuple[Decision, ...]]]:
    """Each Interaction with its records and what became of each evaluator, in order, ``concurrency`` at a time.

    Bindings decide as they do live. ``unsampled``: what sampling leaves out is judged too. ``wants``: those
    that it says no to are not judged, and are there to be looked up. Nothing is stored.
    """
    limit = asyncio.Semaphore(concurrency)
    isolation = Isolation(configured.evaluator_timeout)
    known = [configured.with_role(interaction) for interaction in interactions]
    at_hand = AtHand(known)

    async def one(
        interaction: Interaction,
    ) -> tuple[Interaction, tuple[EvaluationRecord, ...], tuple[Decision, ...]]:
        async with limit:
            return await _judge(interaction, configured, unsampled, isolation, at_hand)

    tasks = [asyncio.create_task(one(interaction)) for interaction in known if wants(interaction)]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _judge(
    interaction: Interaction, configured: Configured, unsampled: bool, isolation: Isolation, at_hand: AtHand
) -> tuple[Interaction, tuple[EvaluationRecord, ...], tuple[Decision, ...]]:
    decisions = configured.decide(interaction)
    wanted = (Reason.EVALUATED, Reason.SAMPLED_OUT) if unsampled else (Reason.EVALUATED,)
    evaluators = [configured.evaluators[each.evaluator] for each in decisions if each.reason in wanted]
    records = await asyncio.gather(
        *(_record(evaluator, interaction, configured, isolation, at_hand) for evaluator in evaluators)
    )
    return interaction, tuple(records), _as_done(decisions, wanted)


def _as_done(decisions: Sequence[Decision], wanted: Sequence[Reason]) -> tuple[Decision, ...]:
    return tuple(replace(each, reason=Reason.EVALUATED) if each.reason in wanted else each for each in decisions)


async def _record(
    evaluator: Evaluator, interaction: Interaction, configured: Configured, isolation: Isolation, at_hand: AtHand
) -> EvaluationRecord:
    record_id = evaluation_id(
        interaction_id=interaction.id, evaluator=evaluator.id, evaluator_version=evaluator.version
    )
    context = EvaluationContext(
        evaluation_id=record_id,
        evaluator_id=evaluator.id,
        binding=None if configured.bindings is None else configured.bindings.entry(evaluator.id, interaction),
        origin=Origin.OFFLINE,
        judges=configured.asked,
        timeout=configured.evaluator_timeout,
        ledger=at_hand,
    )
    started_ns = time.time_ns()
    outcome = await run(isolation.of(evaluator), interaction, context)
    return EvaluationRecord.about(
        interaction,
        id=record_id,
        evaluator=evaluator.id,
        evaluator_version=evaluator.version,
        check=evaluator.check,
        outcome=outcome,
        origin=Origin.OFFLINE,
        threshold=evaluator.threshold,
        judge_calls=tuple(context.judge_calls),
        started_ns=started_ns,
        ended_ns=time.time_ns(),
    )
