"""The six calls: checked, read from the ledger in threads of their own, and put into messages there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

from google.protobuf.message import Message

from otel_eval.api import interactions, messages, places, questions
from otel_eval.api.failures import NotFound, TooMuch
from otel_eval.api.watching import Watchers
from otel_eval.clock import Clock
from otel_eval.interaction import Interaction
from otel_eval.ledger import NO_END, AsyncLedger, WaitingEvaluation
from otel_eval.record import EvaluationRecord
from otel_eval.v1 import evaluations_pb2 as pb
from otel_eval.wording import number_of

log = logging.getLogger("otel_eval.api")

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=Message)

MOST_BYTES = 3 * 1024 * 1024
"""Of a page: gRPC clients take 4 MiB unless they are told otherwise."""
READERS = 2
"""Threads that read for callers: a long listing holds up other callers, and never the pipeline's own reads."""
LAST_NS = 2**63 - 1
"""The latest end that the ledger's columns have."""
_SHOWN = 100
"""Characters of what a caller sent that a status repeats: clients take little in trailers."""
_ROWS = 50
"""Rows read at a time: a row may be a hundred kilobytes."""


class Judging(Protocol):
    """What judges again: a :class:`~otel_eval.dispatch.Dispatcher`."""

    @property
    def evaluators(self) -> tuple[str, ...]: ...

    async def rerun_all(
        self, interaction_ids: Collection[str], evaluators: Collection[str]
    ) -> tuple[WaitingEvaluation, ...]: ...


class Service:
    """Answers requests. Raises :class:`~otel_eval.api.failures.CallFailed`, or a LedgerError where the ledger does not
    answer.

    An async context manager. :meth:`stop` ends those who watch.
    """

    def __init__(self, *, ledger: AsyncLedger, judging: Judging, clock: Clock, most_watchers: int) -> None:
        self._ledger = ledger.ledger
        self._judging = judging
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="otel-eval-api")
        self._watchers = Watchers(ledger, read=self._read, clock=clock, most=most_watchers)

    async def __aenter__(self) -> Service:
        self._watchers.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        self._watchers.stop()
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    def stop(self) -> None:
        """Tell those who watch to come back later."""
        self._watchers.stop()

    async def get_interaction(self, request: pb.GetInteractionRequest, caller: str) -> pb.GetInteractionResponse:
        """One Interaction."""
        wanted = questions.some_id("interaction_id", request.interaction_id)

        def read() -> pb.GetInteractionResponse:
            stored = self._ledger.stored_interaction(wanted)
            return pb.GetInteractionResponse(
                interaction=interactions.interaction(stored.interaction), revision=stored.revision
            )

        try:
            return await self._read(read)
        except KeyError as error:
            raise NotFound(f"the ledger has no Interaction {wanted[:_SHOWN]}") from error

    async def list_interactions(self, request: pb.ListInteractionsRequest, caller: str) -> pb.ListInteractionsResponse:
        """A page of Interactions."""
        wanted = questions.interactions(request.filter)
        size = questions.page_size(request.page_size, default=50, most=500)
        after = places.after_of(request.page_token, request)

        def read() -> pb.ListInteractionsResponse:
            found = self._ledger.interactions(**wanted, after=after, page=min(size + 1, _ROWS))
            page, last = _page(found, interactions.interaction, _place_of_interaction, size)
            return pb.ListInteractionsResponse(
                interactions=page, next_page_token="" if last is None else places.page_token(request, last)
            )

        return await self._read(read)

    async def get_evaluations(self, request: pb.GetEvaluationsRequest, caller: str) -> pb.GetEvaluationsResponse:
        """Evaluations by id."""
        ids = questions.evaluation_ids(request.evaluation_ids)

        def read() -> pb.GetEvaluationsResponse:
            waiting = self._ledger.waiting_among(ids)  # first: one that ends meanwhile is found among those that ended
            records = self._ledger.ended(ids)
            known = {*waiting, *(record.id for record in records)}
            page, _ = _page(records, _message_of(request), _place_of_record, len(ids))
            return pb.GetEvaluationsResponse(
                evaluations=page,
                waiting_ids=sorted(waiting - {record.id for record in records}),
                unknown_ids=[each for each in ids if each not in known],
            )

        return await self._read(read)

    async def list_evaluations(self, request: pb.ListEvaluationsRequest, caller: str) -> pb.ListEvaluationsResponse:
        """A page of evaluations, and where the ledger was before it was read."""
        wanted = questions.ended(request)
        size = questions.page_size(request.page_size, default=100, most=1000)
        after = places.after_of(request.page_token, request)

        def read() -> pb.ListEvaluationsResponse:
            here = self._ledger.place()
            listing = self._ledger.current if request.current_only else self._ledger.records
            found = listing(**wanted, after=after, page=min(size + 1, _ROWS))
            page, last = _page(found, _message_of(request), _place_of_record, size)
            return pb.ListEvaluationsResponse(
                evaluations=page,
                next_page_token="" if last is None else places.page_token(request, last),
                cursor=places.cursor(here),
            )

        return await self._read(read)

    def watch_evaluations(
        self, request: pb.WatchEvaluationsRequest, caller: str
    ) -> AsyncIterator[pb.WatchEvaluationsResponse]:
        """Evaluations as they are stored."""
        return self._watchers.watch(request)

    async def start_evaluation(self, request: pb.StartEvaluationRequest, caller: str) -> pb.StartEvaluationResponse:
        """Queue what is to be judged again, all of it or nothing."""
        asked = questions.start(request, self._judging.evaluators)
        here = await self._read(self._ledger.place)
        ids = asked.ids if asked.wanted is None else await self._matching(asked)
        unknown = [] if not asked.ids else await self._unknown(ids)
        if unknown:
            raise NotFound(f"the ledger has no Interaction {unknown[0][:_SHOWN]}" + _and_others(len(unknown) - 1))
        try:
            queued = await self._judging.rerun_all(ids, asked.evaluators)
        except KeyError as error:
            raise NotFound("an Interaction was deleted meanwhile: nothing was queued") from error
        count = number_of(len(queued), "evaluation")
        log.info("%s had %s queued again: %s", caller, count, ", ".join(asked.evaluators))
        return pb.StartEvaluationResponse(
            evaluations=[messages.started(each) for each in queued], cursor=places.cursor(here)
        )

    async def _matching(self, asked: questions.Start) -> tuple[str, ...]:
        assert asked.wanted is not None
        found = await self._read(partial(self._ledger.interaction_ids, **asked.wanted, limit=asked.limit + 1))
        if len(found) > asked.limit:
            raise TooMuch(
                f"more than {asked.limit} Interactions match, and nothing was queued: ask for less, or raise "
                f"max_interactions (Interactions times evaluators are {questions.MOST_EVALUATIONS} at most)"
            )
        return found

    async def _unknown(self, ids: Sequence[str]) -> list[str]:
        known = await self._read(self._ledger.standings, ids)
        return [each for each in ids if each not in known]

    async def _read(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *args, **kwargs))


def _message_of(
    request: pb.GetEvaluationsRequest | pb.ListEvaluationsRequest,
) -> Callable[[EvaluationRecord], pb.Evaluation]:
    return partial(messages.evaluation, judge_calls=request.include_judge_calls)


def _place_of_interaction(one: Interaction) -> tuple[int, str]:
    """Its place in a listing, where one without an end comes last."""
    return (NO_END if one.ended_ns is None else min(one.ended_ns, LAST_NS), one.id)


def _place_of_record(record: EvaluationRecord) -> tuple[int, str]:
    return (min(record.ended_ns, LAST_NS), record.id)


def _and_others(count: int) -> str:
    return "" if count == 0 else f", nor {count} others"


def _page(
    found: Iterable[T], message_of: Callable[[T], M], place_of: Callable[[T], tuple[int, str]], size: int
) -> tuple[list[M], tuple[int, str] | None]:
    """At most ``size`` messages, which together are small enough unless it is one; and the place of the last of them, where
    others follow."""
    page: list[M] = []
    place: tuple[int, str] | None = None
    total = 0
    for each in found:
        if len(page) == size:
            return page, place
        message = message_of(each)
        total += message.ByteSize()
        if page and total > MOST_BYTES:
            return page, place
        page.append(message)
        place = place_of(each)
    return page, None
