"""Storage that does not answer is asked again until it does: that costs time alone, where giving up would cost data."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import ParamSpec, TypeVar

from otel_eval.clock import Clock

P = ParamSpec("P")
T = TypeVar("T")

RETRY_S = 1.0
"""Between two attempts."""


class Patience:
    """Calls again and again while one of the ``unavailable`` errors is raised; their values name what is not available.

    Each call logs one warning when it begins to wait and one line when it need not wait any longer, however often it tries.
    """

    def __init__(self, clock: Clock, log: logging.Logger, unavailable: Mapping[type[Exception], str]) -> None:
        self._clock = clock
        self._log = log
        self._unavailable = unavailable

    async def __call__(self, use: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the call returns once it succeeds. Raises what else it raises."""
        waited_for = None
        while True:
            try:
                result = await use(*args, **kwargs)
            except tuple(self._unavailable) as error:
                if waited_for is None:
                    waited_for = next(name for kind, name in self._unavailable.items() if isinstance(error, kind))
                    self._log.warning("the %s cannot be used, it is tried again until it can: %s", waited_for, error)
                await self._clock.sleep_until(self._clock.monotonic() + RETRY_S)
            else:
                if waited_for is not None:
                    self._log.info("the %s can be used again", waited_for)
                return result
