"""What the receiving process counts: it goes to the judging process, which alone exports metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TypeAlias

from otel_eval.instruments import BY_NAME

Measurement: TypeAlias = tuple[str, float, dict[str, str]]
"""Name, amount, labels: what a :class:`~otel_eval.instruments.Recorder` takes."""


class Tally:
    """A recorder that adds up, until what it has is taken. Counters and gauges; one event loop uses it.

    While nobody takes it, it grows no larger than its labels' values are many.
    """

    def __init__(self) -> None:
        self._amounts: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        self.filled = asyncio.Event()
        """Set while there is something to take."""

    def record(
        self,
        name: str,
        amount: float = 1,
        labels: Mapping[str, str] | None = None,
        *,
        judged: tuple[str, str] | None = None,
    ) -> None:
        """See :class:`~otel_eval.instruments.Recorder`. ``judged`` is not kept: exemplars are of what is judged."""
        key = (name, tuple(labels.items()) if labels else ())
        if BY_NAME[name].kind == "gauge":
            self._amounts[key] = amount
        else:
            self._amounts[key] = self._amounts.get(key, 0) + amount
        self.filled.set()

    def take(self) -> tuple[Measurement, ...]:
        """All that was counted since it was last taken."""
        amounts, self._amounts = self._amounts, {}
        self.filled.clear()
        return tuple((name, amount, dict(labels)) for (name, labels), amount in amounts.items())
