"""Many may be inside, or one alone; whoever comes first goes in first, so that nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections import deque


class Gate:
    """For one event loop."""

    def __init__(self) -> None:
        self._inside = 0
        self._occupied = False
        self._queue: deque[tuple[bool, asyncio.Future[None]]] = deque()

    async def enter(self, *, alone: bool) -> None:
        """Return inside: with nobody else where ``alone``, else with others that are not. To be followed by :meth:`leave`."""
        if not self._queue and self._fits(alone):
            self._admit(alone)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((alone, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._queue.remove((alone, turn))
                self._let_in()
            else:  # let in, and cancelled before it could know
                self.leave()
            raise

    def leave(self) -> None:
        """One is inside no more."""
        self._inside -= 1
        self._occupied = False
        self._let_in()

    def _fits(self, alone: bool) -> bool:
        return not self._occupied and (self._inside == 0 or not alone)

    def _admit(self, alone: bool) -> None:
        self._inside += 1
        self._occupied = alone

    def _let_in(self) -> None:
        while self._queue and self._fits(self._queue[0][0]):
            alone, turn = self._queue[0]
            if turn.done():  # cancelled, and about to leave the queue itself
                return
            self._queue.popleft()
            self._admit(alone)
            turn.set_result(None)
