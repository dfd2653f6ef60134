"""Waiting for evaluations that were started, across restarts of the server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from typing import Any

from otel_eval.api.client import ApiCallError, ApiClient
from otel_eval.api.questions import MOST_IDS
from otel_eval.api.records import record
from otel_eval.clock import Clock, SystemClock
from otel_eval.record import EvaluationRecord
from otel_eval.v1 import evaluations_pb2 as pb

CHECK_EVERY_S = 5.0
"""How often it is asked what became of those that have not come: an evaluation whose Interaction was deleted, or got a newer
revision, never ends."""
AGAIN_S = 1.0
"""How long is waited for a server that is not there."""


async def verdicts(
    api: ApiClient, started: pb.StartEvaluationResponse, *, clock: Clock | None = None
) -> AsyncIterator[EvaluationRecord]:
    """The record of each of them, as it comes; returns when none is to come any more.

    While the server is not there it waits: bound it with a timeout. Raises ApiCallError for any other trouble.
    """
    clock = clock or SystemClock()
    left = {each.evaluation_id for each in started.evaluations}
    cursor = started.cursor
    while left:
        try:
            messages = api.watch_evaluations(pb.WatchEvaluationsRequest(cursor=cursor, filter=_filter(started)))
            async with contextlib.aclosing(_now_and_then(messages)) as signs:
                async for message in signs:
                    if message is None:
                        for ended in await _settled(api, left):
                            yield ended
                    else:
                        cursor = message.cursor
                        if message.evaluation.id in left:
                            left.discard(message.evaluation.id)
                            yield record(message.evaluation)
                    if not left:
                        return
        except ApiCallError as error:
            if not error.passes:
                raise
            await clock.sleep_until(clock.monotonic() + AGAIN_S)


def _filter(started: pb.StartEvaluationResponse) -> pb.EvaluationFilter:
    """As narrow as it goes without naming each."""
    evaluators = {each.evaluator for each in started.evaluations}
    only = pb.EvaluationFilter(origin=pb.ORIGIN_RERUN)
    if len(evaluators) == 1:
        only.evaluator = evaluators.pop()
    return only


async def _settled(api: ApiClient, left: set[str]) -> list[EvaluationRecord]:
    """Those that ended unseen, since a later attempt was current before anybody looked; what never ends is not left."""
    found = []
    for some in _portions(sorted(left)):
        answer = await api.get_evaluations(pb.GetEvaluationsRequest(evaluation_ids=some))
        found += [record(each) for each in answer.evaluations]
        left.difference_update(answer.unknown_ids, (each.id for each in answer.evaluations))
    return found


def _portions(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + MOST_IDS] for start in range(0, len(ids), MOST_IDS))


async def _now_and_then(
    messages: AsyncIterator[pb.WatchEvaluationsResponse],
) -> AsyncGenerator[pb.WatchEvaluationsResponse | None]:
    """The messages, and None every few seconds."""
    loop = asyncio.get_running_loop()
    reading: asyncio.Future[Any] = asyncio.ensure_future(anext(messages))
    check_at = loop.time() + CHECK_EVERY_S
    try:
        while True:
            await asyncio.wait({reading}, timeout=max(0.0, check_at - loop.time()))
            if reading.done():
                message = reading.result()
                reading = asyncio.ensure_future(anext(messages))
                yield message
            if loop.time() >= check_at:
                check_at = loop.time() + CHECK_EVERY_S
                yield None
    finally:
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError, ApiCallError, StopAsyncIteration):
            await reading
