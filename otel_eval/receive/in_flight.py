"""The bytes of requests that are in memory: what all of them together may hold, and who is let in next.

Over HTTP a request is counted as it comes. gRPC hands a message over whole, and what it has buffered until then nobody has
counted: twelve senders of 48 MB at once took 1.8 GB. So a gRPC request is not read off its connection before there is room
for one of the size that is usual lately; until then HTTP/2's flow control holds it back at its sender.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import Iterator

from otel_eval.receive.refusal import Code, retryable

DEFAULT_LIMIT = 256 << 20
WAIT_S = 5.0
"""How long a request waits for room: half of what SDKs allow for a whole export."""
SILENT_S = 2.0
"""How long room is kept for a request of which nobody knows whether it is on its way at all."""
_LESS_USUAL = 0.95
"""A size that does not come again is forgotten: after 100 requests it counts for less than a hundredth."""
_SMALL = 1 / 1024
"""Of the limit: it takes a thousand senders that say nothing to keep others out who want so little."""


class InFlight:
    """The bytes in flight of one process, on one event loop: those that are there, and those that are expected.

    What is expected keeps out nobody whose bytes are there: calls that say nothing cost others no more than a wait.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._held = 0
        self._expected = 0
        self._usual = limit / 4  # nobody knows yet, and after a pause all come at once with all that they have
        self._last_large = -math.inf
        self._waiting: deque[tuple[asyncio.Future[None], Share]] = deque()

    @contextlib.contextmanager
    def share(self) -> Iterator[Share]:
        """What one request holds, given back at the end."""
        share = Share(self)
        try:
            yield share
        finally:
            self._become(share, 0)

    def _become(self, share: Share, size: int) -> None:
        """So many bytes are there, and no more are expected."""
        self._held += size - share.size
        share.size = size
        self._expect(share, 0)

    def _expect(self, share: Share, size: int) -> None:
        self._expected += size - share.expected
        share.expected = size
        if share.patience is not None:
            share.patience.cancel()
            share.patience = None
        if size > self._limit * _SMALL:
            share.patience = asyncio.get_running_loop().call_later(SILENT_S, self._look_at, share)
        while self._waiting and self._has_room(usual := int(self._usual)):
            future, next_one = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                self._expect(next_one, usual)

    def _has_room(self, size: int) -> bool:
        """Whether one of that size may be expected; where nothing is in flight, one of any size."""
        there = self._held + self._expected
        return there + size <= self._limit or not there

    def _look_at(self, share: Share) -> None:
        """Nothing has come of it. Where others' large requests come, it may be on its way; else that size is not usual."""
        quiet = asyncio.get_running_loop().time() - self._last_large
        if quiet < SILENT_S:
            share.patience = asyncio.get_running_loop().call_later(SILENT_S - quiet, self._look_at, share)
            return
        self._usual /= 2
        self._expect(share, 0)


class Share:
    """The bytes of one request. What raises :class:`Refused` asks the sender to come back."""

    def __init__(self, all_of_them: InFlight) -> None:
        self._all = all_of_them
        self.size = 0
        self.expected = 0
        self.patience: asyncio.TimerHandle | None = None

    def add(self, size: int) -> None:
        """Hold so many bytes more. Raises :class:`Refused` past the limit; the only one may be of any size."""
        size += self.size
        held = self._all._held - self.size
        if held and held + size > self._all._limit:
            raise retryable(Code.OVERLOADED, "too many requests at once")
        self._all._become(self, size)

    async def expect(self) -> None:
        """Return once there is room for a request of the usual size, in the order of the calls, and keep it for this one.

        Raises :class:`Refused` where there is none within ``WAIT_S``.
        """
        everything, usual = self._all, int(self._all._usual)
        if not everything._waiting and everything._has_room(usual):
            everything._expect(self, usual)
            return
        turn = (asyncio.get_running_loop().create_future(), self)
        everything._waiting.append(turn)
        try:
            async with asyncio.timeout(WAIT_S):
                await turn[0]
        except TimeoutError:
            raise retryable(Code.OVERLOADED, "too many requests at once") from None
        finally:
            if turn in everything._waiting:
                everything._waiting.remove(turn)

    def came(self, size: int) -> None:
        """Hold what the request is in truth, in place of what was expected. Raises :class:`Refused` past the limit."""
        if size >= self._all._usual / 2:
            self._all._last_large = asyncio.get_running_loop().time()
        self._all._usual = max(size, self._all._usual * _LESS_USUAL)
        self.add(size)
