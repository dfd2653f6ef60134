"""What is to be judged though no telemetry came in: what waited at the last stop, and what is asked for again."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from otel_eval.dispatch.plan import Planned
from otel_eval.identity import evaluation_id
from otel_eval.ledger import AsyncLedger, Batch, Standing, WaitingEvaluation
from otel_eval.record import Origin

log = logging.getLogger("otel_eval.dispatch")

_PAGE = 1000


async def resume(
    ledger: AsyncLedger,
    planned: Mapping[str, Planned],
    add: Callable[[Iterable[WaitingEvaluation]], None],
) -> None:
    """``add`` what waits in the ledger, page by page, for the evaluators that there are now.

    An evaluator that is gone or switched off takes its evaluations with it. One whose definition changed judges in its
    new version what waited for the old one.
    """
    lost: Counter[str] = Counter()
    after: tuple[int, str] | None = None
    while page := await ledger.waiting(_PAGE, after=after):
        after = (page[-1].enqueued_ns, page[-1].evaluation_id)
        gone = [each for each in page if each.evaluator not in planned]
        here = [each for each in page if each.evaluator in planned]
        same = [each for each in here if each.evaluator_version == planned[each.evaluator].version]
        changed = [each for each in here if each.evaluator_version != planned[each.evaluator].version]
        renewed = [_in_version(each, planned[each.evaluator].version) for each in changed]
        if renewed:
            await ledger.commit(Batch(waiting=tuple(renewed)))
        if gone or changed:
            await ledger.discard_waiting(each.evaluation_id for each in (*gone, *changed))
        add([*same, *renewed])
        lost.update(each.evaluator for each in gone)
    for name, count in sorted(lost.items()):
        log.warning("%d evaluations waited for %s, which the configuration does not have any more", count, name)


def rerun_of(name: str, planned: Planned, standing: Standing, now_ns: int) -> WaitingEvaluation:
    """The next attempt of that evaluator on the newest revision."""
    version = planned.version
    first = WaitingEvaluation(
        evaluation_id="",
        interaction_id=standing.interaction_id,
        evaluator=name,
        evaluator_version=version,
        check=planned.evaluator.check,
        revision=standing.revision,
        attempt=standing.attempts.get((name, version), 0) + 1,
        origin=Origin.RERUN,
        enqueued_ns=now_ns,
    )
    return _in_version(first, version)


def _in_version(waiting: WaitingEvaluation, version: str) -> WaitingEvaluation:
    return replace(
        waiting,
        evaluator_version=version,
        evaluation_id=evaluation_id(
            interaction_id=waiting.interaction_id,
            evaluator=waiting.evaluator,
            evaluator_version=version,
            revision=waiting.revision,
            attempt=waiting.attempt,
        ),
    )
