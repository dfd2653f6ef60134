"""The bytes of requests that are in memory: what all of them together may hold, and who is let in next.

Over HTTP a request is counted as it comes. gRPC hands a message over whole, and what it has buffered until then nobody has
counted: twelve senders of 48 MB at once took 1.8 GB. So a gRPC request is not read off its connection before there is room
for one of the size that is usual lately; until then HTTP/2's flow control holds it back at its sender.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator

from otel_eval.receive.refusal import Code, Refused, retryable

DEFAULT_LIMIT = 256 << 20
WAIT_S = 5.0
"""How long a request waits for room: half of what SDKs allow for a whole export."""
_LESS_USUAL = 0.95
"""A size that does not come again is forgotten: after 100 requests it counts for less than a hundredth."""


class InFlight:
    """The bytes in flight of one process, on one event loop."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._held = 0
        self._usual = limit / 4  # nobody knows yet, and after a pause all come at once with all that they have
        self._waiting: deque[tuple[asyncio.Future[None], Share]] = deque()

    @contextlib.contextmanager
    def share(self) -> Iterator[Share]:
        """What one request holds, given back at the end."""
        share = Share(self)
        try:
            yield share
        finally:
            self._hold(share, 0)

    def _hold(self, share: Share, size: int) -> None:
        self._held += size - share.size
        share.size = size
        while self._waiting and self._has_room(self._waiting[0][1], int(self._usual)):
            future, next_one = self._waiting.popleft()
            if not future.done():
                self._held += int(self._usual)
                next_one.size += int(self._usual)
                future.set_result(None)

    def _has_room(self, share: Share, size: int) -> bool:
        """Whether the share may be of that size; one that is the only one may be of any."""
        return self._held - share.size + size <= self._limit or self._held == share.size


class Share:
    """The bytes that one request holds. What raises :class:`Refused` asks the sender to come back."""

    def __init__(self, all_of_them: InFlight) -> None:
        self._all = all_of_them
        self.size = 0

    def add(self, size: int) -> None:
        """Hold so many bytes more. Raises :class:`Refused` past the limit."""
        self._become(self.size + size)

    async def expect(self) -> None:
        """Return once there is room for a request of the usual size, in the order of the calls, and hold that much.

        Raises :class:`Refused` where there is none within ``WAIT_S``.
        """
        everything, usual = self._all, int(self._all._usual)
        if not everything._waiting and everything._has_room(self, usual):
            everything._hold(self, usual)
            return
        turn = (asyncio.get_running_loop().create_future(), self)
        everything._waiting.append(turn)
        try:
            async with asyncio.timeout(WAIT_S):
                await turn[0]
        except TimeoutError:
            raise _overloaded() from None
        finally:
            if turn in everything._waiting:
                everything._waiting.remove(turn)

    def came(self, size: int) -> None:
        """Hold what the request is in truth, in place of what was expected. Raises :class:`Refused` past the limit."""
        self._all._usual = max(size, self._all._usual * _LESS_USUAL)
        self._become(size)

    def _become(self, size: int) -> None:
        if size > self.size and not self._all._has_room(self, size):
            raise _overloaded()
        self._all._hold(self, size)


def _overloaded() -> Refused:
    return retryable(Code.OVERLOADED, "too many requests at once")
