"""HTTP/1.1 as uvicorn speaks it, with a limit to how long a sender may take over one request.

Uvicorn waits for ever for the rest of a request. A sender that stalls would keep its connection, and its share of the bytes
in flight: some hundred of them, and nobody else is served.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedProtocol(H11Protocol):
    """Closes a connection that takes longer than ``receive_s`` over its first request, from connecting, or over a later
    one, from its first byte. Between requests uvicorn's keep-alive timeout holds."""

    receive_s: float
    _overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._received()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        state = self.conn.their_state
        if state is h11.SEND_BODY or (state is h11.IDLE and self.conn.trailing_data[0]):
            self._expect()
        else:
            self._received()

    def _expect(self) -> None:
        if self._overdue is None and not self.transport.is_closing():
            self._overdue = self.loop.call_later(self.receive_s, self.transport.abort)

    def _received(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None


def timed(receive_s: float) -> type[TimedProtocol]:
    """The protocol with that limit; uvicorn makes the instances."""
    return type("TimedProtocol", (TimedProtocol,), {"receive_s": receive_s})
