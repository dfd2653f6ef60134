"""Which conventions a span is offered to, by tables that fill themselves with the names that come by.

Programs write the same few hundred keys, scopes and event names for ever. Looked up, they cost 1.5 us for a span of 20
attributes; tried against every prefix of some 30 conventions each time, 150 us.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from otel_eval.conventions.facts import Convention
from otel_eval.signals import Span

REMEMBERED = 20_000
"""Names in one table. Some instrumentations number their keys; at the limit the table starts anew."""


class Offering:
    """Conventions in order, and for a span those of them that it is offered to."""

    def __init__(self, conventions: Iterable[Convention]) -> None:
        self._conventions = tuple(conventions)
        asked = self._conventions
        # The upper half of the bits: what the conventions need.
        self._keys = _Table([each.prefixes for each in asked] + [each.needs for each in asked])
        self._scopes = _Table([each.scopes for each in asked] * 2)
        self._names = _Table([each.names for each in asked])
        self._events = _Table([each.events for each in asked])
        self._chosen: dict[int, tuple[Convention, ...]] = {}

    def of(self, span: Span) -> tuple[Convention, ...]:
        """The conventions that the span bears a mark of; empty for an ordinary span."""
        keys = self._keys
        told = self._scopes[span.scope.name] | self._names[span.name]
        for key in span.attributes:
            told |= keys[key]
        for event in span.events:
            told |= self._events[event.name]
        found = self._chosen.get(told)
        if found is None:
            found = self._chosen[told] = tuple(self._told(told))
        return found

    def _told(self, told: int) -> Iterator[Convention]:
        needed = told >> len(self._conventions)
        for place, each in enumerate(self._conventions):
            if told >> place & 1 and (not each.needs or needed >> place & 1):
                yield each


class _Table(dict[str, int]):
    """A name to the places of the prefixes that it begins with, each a bit."""

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
