"""What is said of requests that are sent back: a line when it begins and one when it is over for good, never one for each.

At its limit a journal takes what fits and refuses the next, many times a second. So it is over when nothing was refused for a
while, and something is taken.
"""

from __future__ import annotations

import logging

from otel_eval.clock import Clock, SystemClock

_log = logging.getLogger(__name__)

QUIET_S = 30.0
"""Nothing refused for so long, it is over: senders that were told to come back have done so several times."""


class Pushback:
    """For one intake."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._told: set[type[Exception]] = set()
        self._refused = 0
        self._began = self._last = 0.0

    def refused(self, trouble: Exception) -> None:
        """A request was sent back. The first of its kind is told, with the reason."""
        self._last = self._clock.monotonic()
        if not self._refused:
            self._began = self._last
        self._refused += 1
        if type(trouble) not in self._told:
            self._told.add(type(trouble))
            _log.warning("telemetry is refused, senders are asked to come back: %s", trouble)

    def taken(self) -> None:
        """A request was taken."""
        if self._refused and self._clock.monotonic() - self._last >= QUIET_S:
            times = "1 request was" if self._refused == 1 else f"{self._refused} requests were"
            _log.warning("telemetry is taken again: %s sent back within %.0f s", times, self._last - self._began)
            self._told.clear()
            self._refused = 0
