"""Which conventions a span is offered to, by tables that fill themselves with the names that come by.

Programs write the same few hundred keys, scopes and event names for ever. Looked up, they cost 1.5 us for a span of 20
attributes; tried against every prefix of some 30 conventions each time, 150 us.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_eval.conventions.facts import Convention
from otel_eval.signals import Span

REMEMBERED = 20_000
"""Names in one table. Some instrumentations number their keys; at the limit the table starts anew."""


class Offering:
    """Conventions in order, and for a span those of them that it is offered to."""

    def __init__(self, conventions: Iterable[Convention]) -> None:
        self._conventions = tuple(conventions)
        self._keys = _Table([each.prefixes for each in self._conventions])
        self._scopes = _Table([each.scopes for each in self._conventions])
        self._events = _Table([each.events for each in self._conventions])
        self._chosen: dict[int, tuple[Convention, ...]] = {}

    def of(self, span: Span) -> tuple[Convention, ...]:
        """None for an ordinary span."""
        keys = self._keys
        chosen = self._scopes[span.scope.name]
        for key in span.attributes:
            chosen |= keys[key]
        for event in span.events:
            chosen |= self._events[event.name]
        found = self._chosen.get(chosen)
        if found is None:
            found = tuple(each for place, each in enumerate(self._conventions) if chosen >> place & 1)
            self._chosen[chosen] = found
        return found


class _Table(dict[str, int]):
    """A name to the conventions whose prefixes it begins with, each a bit."""

    def __init__(self, prefixes: Sequence[tuple[str, ...]]) -> None:
        self._prefixes = prefixes

    def __missing__(self, name: str) -> int:
        if len(self) >= REMEMBERED:
            self.clear()
        bits = 0
        for place, prefixes in enumerate(self._prefixes):
            if name.startswith(prefixes):  # no prefix: never
                bits |= 1 << place
        self[name] = bits
        return bits
