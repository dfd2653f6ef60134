"""Bindings that never match are mistakes that nobody sees: after a while they say so, once."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from otel_eval.clock import Clock
from otel_eval.dispatch.accepting import Accepted
from otel_eval.dispatch.bindings import Bindings

log = logging.getLogger("otel_eval.dispatch")

_AGENTS_NAMED = 10


class Matching:
    """Watches which entries matched. ``after`` is in seconds from the first Interaction on."""

    def __init__(self, bindings: Bindings, *, after: float, clock: Clock) -> None:
        self._unmatched = dict.fromkeys(bindings.entries)
        self._agents: dict[str, None] = {}
        self._after = after
        self._clock = clock
        self._due: float | None = None

    def saw(self, accepted: Iterable[Accepted]) -> None:
        """Note what came; warn when the time is up and some entries have matched nothing."""
        if not self._unmatched:
            return
        for each in accepted:
            for decision in each.decisions:
                if decision.entry is not None:
                    self._unmatched.pop((decision.evaluator, decision.entry), None)
            if len(self._agents) < _AGENTS_NAMED:
                self._agents[each.interaction.agent or "(no name)"] = None
            if self._due is None:
                self._due = self._clock.monotonic() + self._after
        if self._due is not None and self._clock.monotonic() >= self._due:
            self._warn()

    def _warn(self) -> None:
        for evaluator, entry in self._unmatched:
            log.warning(
                "evaluators.%s.%s has matched no Interaction in %g s; agents seen: %s",
                evaluator,
                entry,
                self._after,
                ", ".join(self._agents),
            )
        self._unmatched.clear()
