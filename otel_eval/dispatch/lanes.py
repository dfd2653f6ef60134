"""A lane: evaluations that wait for the same judge model (or custom evaluator), and whether it is to be asked now."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from otel_eval.dispatch.setbacks import Setbacks, told_wait
from otel_eval.judges.errors import JudgeUnavailable
from otel_eval.ledger import WaitingEvaluation

WINDOW = 1000
"""Evaluations of a lane held in memory; the others wait in the ledger alone."""

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 60.0
"""Seconds between two tries of a model that is down, where its provider does not say; doubled each time that another
Interaction fails, or an evaluation again."""


@dataclass(slots=True, kw_only=True)
class Lane:
    """The head of a lane's queue, and its state. Times in seconds are monotonic, those in ``_ns`` since the epoch.

    ``more``: the ledger holds evaluations of this lane that are not in memory. While the model is down (``down_since_ns``)
    one evaluation at a time tries it, between pauses (``paused_until``); the others stay where they are. Each time it is
    another one, if possible of an Interaction that has not failed since, lest the trouble be its own: many evaluations send
    the same text. Those that the model fails while it answers others are set aside.
    ``queued`` is set whenever one joins the queue: it may be the first whose time is up.
    """

    name: str
    limit: int
    model: str | None = None
    evaluators: tuple[str, ...] = ()
    running: int = 0
    more: bool = False
    filling: bool = False
    trouble: JudgeUnavailable | None = None
    down_since_ns: int | None = None
    paused_until: float | None = None
    queued: asyncio.Event = field(default_factory=asyncio.Event)
    _queue: deque[WaitingEvaluation] = field(default_factory=deque)
    _held: set[str] = field(default_factory=set)
    _aside: dict[str, WaitingEvaluation] = field(default_factory=dict)
    _setbacks: Setbacks = field(default_factory=Setbacks)
    _failing: set[str] = field(default_factory=set)
    _tried: set[str] = field(default_factory=set)
    _suspect: bool = False
    _missed: bool = False
    _pause: float = FIRST_PAUSE

    def ready(self) -> bool:
        """Whether an evaluation may start now."""
        limit = self.limit if self.down_since_ns is None else 1
        return bool(self._queue) and self.paused_until is None and self.running < limit

    def wants_more(self) -> bool:
        """Whether the ledger should be asked for the next ones."""
        return self.more and not self.filling and len(self._queue) < WINDOW // 2

    def add(self, item: WaitingEvaluation) -> None:
        """Queue behind the others; past the window, or while the ledger holds earlier ones, it stays in the ledger."""
        if item.evaluation_id in self._held:
            return
        if self.more or len(self._queue) >= WINDOW:
            self.more = self._missed = True
            return
        self._enqueue(item)
        self._held.add(item.evaluation_id)

    def _enqueue(self, item: WaitingEvaluation) -> None:
        self._queue.append(item)
        self.queued.set()

    def upcoming(self, count: int) -> list[WaitingEvaluation]:
        """The next ones, which are left where they are."""
        return list(islice(self._queue, count))

    def start(self) -> WaitingEvaluation:
        """Take the next one out of the queue; while the model is down, one that says most of whether it still is."""
        self.running += 1
        if self.down_since_ns is None:
            return self._queue.popleft()
        item = min(self._queue, key=self._doubt)  # the first of those
        self._queue.remove(item)
        return item

    def _doubt(self, item: WaitingEvaluation) -> int:
        """How likely it is to fail by itself: its Interaction has failed in this outage, so has the evaluation."""
        return (item.interaction_id in self._failing) + (item.evaluation_id in self._tried)

    def leave(self) -> None:
        """One does not run any more: its place is free for the next one, though its record may not be stored yet."""
        self.running -= 1

    def end(self, item: WaitingEvaluation) -> None:
        """It has its record, or needs none: nothing of it is kept in memory."""
        self._held.discard(item.evaluation_id)
        self._setbacks.forget(item.evaluation_id)

    def failed(self, item: WaitingEvaluation, trouble: JudgeUnavailable, began: float, now: float, now_ns: int) -> bool:
        """Its try, which began then, failed. Whether that is its trouble alone, since the model answers others."""
        return self._setbacks.failed(item.evaluation_id, trouble, began, now, now_ns)

    def failing_since_ns(self, item: WaitingEvaluation) -> int:
        """When it failed first, of those that failed and have not ended."""
        return self._setbacks.first_ns(item.evaluation_id)

    def put_back(self, item: WaitingEvaluation) -> None:
        """It failed, as the model is down, does not run any more, and tries again behind the others."""
        self.running -= 1
        self._suspect = self._doubt(item) == 1
        self._failing.add(item.interaction_id)
        self._tried.add(item.evaluation_id)
        self._enqueue(item)

    def set_aside(self, item: WaitingEvaluation) -> float:
        """It does not run any more, and waits by itself; for how many seconds."""
        self.running -= 1
        self._aside[item.evaluation_id] = item
        return self._setbacks.next_wait(item.evaluation_id)

    def take_up(self, item: WaitingEvaluation) -> bool:
        """Queue one that was set aside; False where it is not to be run any more."""
        if self._aside.pop(item.evaluation_id, None) is None:
            return False
        self._enqueue(item)
        return True

    def start_filling(self) -> frozenset[str]:
        """The ledger is asked for more. Returns the ids that are in memory: what it says of them may be out of date."""
        self.filling, self._missed = True, False
        return frozenset(self._held)

    def filled(self, found: Iterable[WaitingEvaluation], known: frozenset[str], *, whole: bool) -> None:
        """What the ledger said; ``whole``: there was no more than that when it was asked."""
        self.filling, self.more = False, False
        for waiting in found:
            if waiting.evaluation_id not in known:
                self.add(waiting)
        self.more = self.more or not whole or self._missed

    def drop_older(self, interaction_id: str, revision: int) -> None:
        """Forget what waits for an older revision of that Interaction: a newer one takes its place."""
        waiting = (*self._queue, *self._aside.values())
        older = [item for item in waiting if item.interaction_id == interaction_id and item.revision < revision]
        self._forget(older)

    def pause(self, trouble: JudgeUnavailable, now: float, now_ns: int) -> bool:
        """The model is down. Whether that is the first that is heard of it since the last pause ended."""
        self.trouble = trouble
        if self.paused_until is not None:
            return False
        if self.down_since_ns is None:
            self.down_since_ns, self._pause = now_ns, FIRST_PAUSE
        elif not self._suspect:  # else it may be one Interaction's trouble, as far as is known
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
        told = told_wait(trouble)
        self.paused_until = now + (self._pause if told is None else told)
        return True

    def answered(self, now: float) -> bool:
        """The model gave an answer. Whether that ends an outage; what was asked before a pause began does not."""
        self._setbacks.answered(now)
        if self.down_since_ns is None or self.paused_until is not None:
            return False
        self.down_since_ns = self.trouble = None
        self._failing.clear()
        self._tried.clear()
        return True

    def next_expiry_ns(self, max_wait_ns: int) -> int | None:
        """When the first of those in memory has waited long enough; None while the model is up, or none waits."""
        return min((self._expiry_ns(item, max_wait_ns) for item in self._queue), default=None)

    def take_expired(self, now_ns: int, max_wait_ns: int) -> list[WaitingEvaluation]:
        """Take those out of the queue that have waited long enough for a model that is down; each has then to :meth:`end`.

        Until then they are known, lest they be queued again from a ledger that does not have their records yet.
        """
        expired = [item for item in self._queue if self._expiry_ns(item, max_wait_ns) <= now_ns]
        if expired:
            self._queue = deque(item for item in self._queue if self._expiry_ns(item, max_wait_ns) > now_ns)
        return expired

    def _expiry_ns(self, item: WaitingEvaluation, max_wait_ns: int) -> int:
        assert self.down_since_ns is not None
        return max(item.enqueued_ns, self.down_since_ns) + max_wait_ns

    def _forget(self, items: list[WaitingEvaluation]) -> None:
        if items:
            gone = {item.evaluation_id for item in items}
            self._queue = deque(item for item in self._queue if item.evaluation_id not in gone)
            self._held -= gone
            for name in gone:
                self._aside.pop(name, None)
                self._setbacks.forget(name)
