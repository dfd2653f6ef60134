"""Runs the evaluations that wait: at most so many at a time, lane by lane, each until it has its one record.

The ledger is the queue; what is here is its head. An evaluation leaves the ledger's list only in the transaction that
stores its record, so that a crash or a stop at any moment leaves it waiting for the next start.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeAlias

from otel_eval.clock import Clock, sleep_until_set
from otel_eval.dispatch.counting import show_backlog, show_pause
from otel_eval.dispatch.execution import Execution
from otel_eval.dispatch.judge_input import nothing_to_ask
from otel_eval.dispatch.lanes import WINDOW, Lane
from otel_eval.dispatch.patient_ledger import PatientLedger
from otel_eval.dispatch.plan import LanePlan, Planned
from otel_eval.dispatch.reading import READ_AHEAD
from otel_eval.durations import format_duration
from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.criterion import JudgeEvaluator
from otel_eval.instruments import Recorder
from otel_eval.interaction import Interaction
from otel_eval.judges.errors import JudgeUnavailable
from otel_eval.ledger import AsyncLedger, WaitingEvaluation
from otel_eval.loop_guard import LoopGuard
from otel_eval.outcome import Cause, Inconclusive
from otel_eval.record import EvaluationRecord

log = logging.getLogger("otel_eval.dispatch")

Ended: TypeAlias = tuple[EvaluationRecord, Interaction]

_BACKLOG_EVERY = 5.0
_SECOND_NS = 1_000_000_000


class Workers:
    """The lanes and what runs in them.

    ``limit`` bounds what runs at the same time, over all lanes, and as well what has been judged and is being stored: a
    verdict does not keep its lane's next evaluation waiting, unless the ledger is slower than the judges. ``max_wait``
    (seconds) is how long an evaluation waits for a model that is down. ``ended`` is told of each record, with the
    Interaction that it is about.
    """

    def __init__(
        self,
        *,
        planned: Mapping[str, Planned],
        lanes: Mapping[str, LanePlan],
        limit: int,
        max_wait: float,
        ledger: AsyncLedger,
        execution: Execution,
        guard: LoopGuard,
        clock: Clock,
        recorder: Recorder,
        ended: Callable[[EvaluationRecord, Interaction], None],
    ) -> None:
        self._planned = planned
        self._lanes = {
            name: Lane(
                name=name,
                limit=lane.limit,
                model=lane.model,
                evaluators=tuple(evaluator for evaluator, each in planned.items() if each.lane == name),
            )
            for name, lane in lanes.items()
        }
        self._turn = deque(self._lanes.values())
        self._limit = limit
        self._max_wait_ns = round(max_wait * _SECOND_NS)
        self._ledger = PatientLedger(ledger, clock=clock)
        self._execution = execution
        self._guard = guard
        self._clock = clock
        self._recorder = recorder
        self._ended = ended
        self._tasks: set[asyncio.Task[None]] = set()
        self._storing = 0
        self._chores: set[asyncio.Task[None]] = set()
        self._backlog_changed = asyncio.Event()
        self._started = self._stopping = False

    def start(self) -> None:
        """Begin to run, and to show the backlog."""
        self._started = True
        self._chore(self._watch_backlog())
        self._pump()

    def add(self, waiting: Iterable[WaitingEvaluation]) -> None:
        """Run these, which the ledger holds already, when their turn comes."""
        for each in waiting:
            self._lane(each).add(each)
        self._pump()

    def supersede(self, interaction_id: str, revision: int) -> None:
        """What waits for an older revision of that Interaction is not to be run."""
        for lane in self._lanes.values():
            lane.drop_older(interaction_id, revision)

    async def stop(self, grace: float) -> None:
        """Start nothing more. What runs may end within ``grace`` seconds, then is cancelled; all that did not end waits."""
        self._stopping = True
        await _cancel(self._chores)
        if self._tasks:
            time_is_up = asyncio.ensure_future(self._clock.sleep_until(self._clock.monotonic() + grace))
            all_ended = asyncio.ensure_future(asyncio.wait(self._tasks))
            await asyncio.wait((time_is_up, all_ended), return_when=asyncio.FIRST_COMPLETED)
            await _cancel({time_is_up, all_ended})
        await _cancel(self._tasks)
        await self._ledger.close()

    # Starting what may start

    def _lane(self, waiting: WaitingEvaluation) -> Lane:
        return self._lanes[self._planned[waiting.evaluator].lane]

    def _pump(self) -> None:
        """Start what may start now. Called whenever that can have changed."""
        self._backlog_changed.set()
        if self._stopping or not self._started:
            return
        while self._has_room() and (lane := self._next_lane()) is not None:
            task = asyncio.create_task(self._work(lane, lane.start()))
            self._tasks.add(task)
            task.add_done_callback(self._work_ended)
        for lane in self._lanes.values():
            if lane.wants_more():
                known = lane.start_filling()
                self._chore(self._fill(lane, known))

    def _has_room(self) -> bool:
        running = sum(lane.running for lane in self._lanes.values())
        return running < self._limit and self._storing < self._limit

    def _next_lane(self) -> Lane | None:
        """The lanes take turns, so that a long queue does not hold up the others."""
        for _ in range(len(self._turn)):
            self._turn.rotate(-1)
            if self._turn[-1].ready():
                return self._turn[-1]
        return None

    def _work_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("an evaluation could not be run, and waits for the next start", exc_info=error)
        self._pump()

    async def _fill(self, lane: Lane, known: frozenset[str]) -> None:
        limit = WINDOW + len(known)
        found = await self._ledger.waiting(limit, lane.evaluators)
        lane.filled(found, known, whole=len(found) < limit)
        self._pump()

    # Running one

    async def _work(self, lane: Lane, waiting: WaitingEvaluation) -> None:
        began = self._clock.monotonic()
        try:
            ended = await self._evaluate(lane, waiting)
        except JudgeUnavailable as error:
            await self._failed(lane, waiting, error, began)
            return
        except BaseException:
            lane.leave()
            raise
        if ended is not None and self._answered(ended[0]) and lane.answered(self._clock.monotonic()):
            log.warning("judge model %s answers again", lane.model or lane.name)
            show_pause(self._recorder, lane.model, paused=False)
        lane.leave()
        if ended is not None:
            await self._store(ended)
        lane.end(waiting)

    def _answered(self, record: EvaluationRecord) -> bool:
        """Whether the model answered. A record that needed no model does not say; a custom evaluator is its own word."""
        judging = self._planned[record.evaluator].reads_evidence_alone
        return not judging or any(call.error is None for call in record.judge_calls)

    async def _evaluate(self, lane: Lane, waiting: WaitingEvaluation) -> Ended | None:
        """Its record, not yet stored; None where there is nothing left to judge. Raises JudgeUnavailable."""
        interaction = await self._ledger.interaction(waiting, lane.upcoming(READ_AHEAD))
        if interaction is None:
            return None
        evaluator = self._planned[waiting.evaluator].evaluator
        if self._guard.owns(interaction.trace_id, interaction.system):
            outcome = Inconclusive(reason="this is a call of a judge of ours", cause=Cause.LOOP_GUARD)
            record = self._execution.record(evaluator, interaction, waiting, outcome)
        else:
            record = await self._execution.queued(evaluator, interaction, waiting)
        return record, interaction

    async def _store(self, ended: Ended) -> None:
        """Store what has left its lane. The next one starts meanwhile, so that more records meet in a transaction."""
        self._storing += 1
        self._pump()
        try:
            await self._finish([ended])
        finally:
            self._storing -= 1

    async def _finish(self, ended: list[Ended]) -> None:
        for record, interaction in ended:
            self._ended(record, interaction)
        await self._ledger.finish([record for record, _ in ended])

    # A model that is down

    async def _failed(self, lane: Lane, waiting: WaitingEvaluation, trouble: JudgeUnavailable, began: float) -> None:
        """The model did not answer: this evaluation waits by itself where it answers others, else all of them do."""
        now, now_ns = self._clock.monotonic(), self._clock.now_ns()
        alone = lane.failed(waiting, trouble, began, now, now_ns)
        left_ns = lane.failing_since_ns(waiting) + self._max_wait_ns - now_ns
        if left_ns <= 0:
            try:
                await self._end_in_vain([waiting], lane, trouble)
            finally:
                lane.leave()
                lane.end(waiting)
        elif alone:
            wait = min(lane.set_aside(waiting), left_ns / _SECOND_NS)  # at the latest, its last try is when time is up
            self._chore(self._take_up(lane, waiting, now + wait))
        else:
            lane.put_back(waiting)
            self._pause(lane, trouble)

    async def _take_up(self, lane: Lane, waiting: WaitingEvaluation, at: float) -> None:
        """Queue one that was set aside, at that monotonic time."""
        await self._clock.sleep_until(at)
        if lane.take_up(waiting):
            self._pump()

    def _pause(self, lane: Lane, trouble: JudgeUnavailable) -> None:
        if lane.pause(trouble, self._clock.monotonic(), self._clock.now_ns()) and not self._stopping:
            log.warning("judge model %s is not available, its evaluations wait: %s", lane.model or lane.name, trouble)
            show_pause(self._recorder, lane.model, paused=True)
            self._chore(self._sit_out(lane))

    async def _sit_out(self, lane: Lane) -> None:
        """End what has waited too long, each in its time, until the pause is over; what waits then is tried, not ended."""
        while lane.paused_until is not None:
            lane.queued.clear()
            await self._expire(lane)
            now, now_ns = self._clock.monotonic(), self._clock.now_ns()
            expiry_ns = lane.next_expiry_ns(self._max_wait_ns)
            wake = lane.paused_until
            if expiry_ns is not None:
                wake = min(wake, now + max(0, expiry_ns - now_ns) / _SECOND_NS)
            await sleep_until_set(self._clock, lane.queued, wake)
            if self._clock.monotonic() >= lane.paused_until:
                lane.paused_until = None
        self._pump()

    async def _expire(self, lane: Lane) -> None:
        expired = lane.take_expired(self._clock.now_ns(), self._max_wait_ns)
        try:
            await self._end_in_vain(expired, lane, lane.trouble)
        finally:
            for waiting in expired:
                lane.end(waiting)
        self._pump()

    async def _end_in_vain(
        self, expired: Iterable[WaitingEvaluation], lane: Lane, trouble: JudgeUnavailable | None
    ) -> None:
        ended = []
        for waiting in expired:
            interaction = await self._ledger.interaction(waiting)
            if interaction is not None:
                evaluator = self._planned[waiting.evaluator].evaluator
                outcome = nothing_to_ask(evaluator, interaction) or self._waited_in_vain(evaluator, trouble)
                ended.append((self._execution.record(evaluator, interaction, waiting, outcome), interaction))
        if ended:
            log.warning("%d evaluations waited in vain for %s", len(ended), lane.model or lane.name)
            await self._finish(ended)

    def _waited_in_vain(self, evaluator: Evaluator, trouble: JudgeUnavailable | None) -> Inconclusive:
        subject = f"{evaluator.criterion.strip()}: " if isinstance(evaluator, JudgeEvaluator) else ""
        waited = format_duration(self._max_wait_ns / _SECOND_NS)
        cause = Cause.JUDGE_UNAVAILABLE if trouble is None else trouble.cause
        return Inconclusive(f"{subject}the judge's model was not available for {waited}: {trouble}", cause)

    # Beside the evaluations

    async def _watch_backlog(self) -> None:
        """Keep the gauges right: after changes, and while something waits, since its age grows."""
        while True:
            await self._backlog_changed.wait()
            self._backlog_changed.clear()
            backlog = await self._ledger.backlog()
            show_backlog(self._recorder, backlog, self._clock.now_ns())
            await self._clock.sleep_until(self._clock.monotonic() + _BACKLOG_EVERY)
            if backlog.count:
                self._backlog_changed.set()

    def _chore(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._chores.add(task)
        task.add_done_callback(self._chore_ended)

    def _chore_ended(self, task: asyncio.Task[None]) -> None:
        self._chores.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the dispatcher could not go on with a chore", exc_info=error)


async def _cancel(tasks: Iterable[asyncio.Future[Any]]) -> None:
    cancelled = [task for task in tasks if not task.done()]
    for task in cancelled:
        task.cancel()
    for task in cancelled:
        with contextlib.suppress(asyncio.CancelledError):
            await task
