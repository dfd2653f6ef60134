"""One text, redacted: as it stands, with its escapes written out and its lines joined, and what it encodes."""

from __future__ import annotations

import bisect
from collections.abc import Iterable

from otel_eval.redaction import keys
from otel_eval.redaction.hidden import Folded, encoded, folded
from otel_eval.redaction.markers import marked, marker
from otel_eval.redaction.patterns import Finder, OwnPattern, Pattern, Traits, traits

_SHORTEST_IN_ONE_WORD = 14  # a payment card; everything else that is built in is longer, or has signs

_MOST_ROUNDS = 4


class Texts:
    """Puts markers into texts by these patterns, in their order."""

    def __init__(self, patterns: Iterable[Pattern | Finder | OwnPattern]) -> None:
        self._patterns = tuple(patterns)
        self._builtin = tuple(pattern for pattern in self._patterns if not isinstance(pattern, OwnPattern))
        self._users_own = len(self._builtin) < len(self._patterns)

    def redacted(self, text: str) -> str:
        """The text with typed markers. Redacting twice is redacting once."""
        if not self._patterns:
            return text
        if not self._users_own and len(text) < _SHORTEST_IN_ONE_WORD and text.replace("_", "").isalnum():
            return text
        redacted = self._once(text, self._patterns)
        # A marker may part what stood too close to be known. A user's pattern may match markers, and is not tried again.
        for _ in range(_MOST_ROUNDS):
            if redacted == text:
                break
            text, redacted = redacted, self._once(redacted, self._builtin)
        return redacted

    def _once(self, text: str, patterns: tuple[Pattern | Finder | OwnPattern, ...]) -> str:
        seen = traits(text)
        view = folded(text, lambda plain: _keys_in(seen if plain is text else traits(plain)))
        if view is not None:
            text = self._unfolded(text, view, patterns)
        for pattern in patterns:
            text = pattern.redact(text, seen)
        return marked(text, encoded(text, self._kind_in)) if seen.run else text

    def _unfolded(self, text: str, view: Folded, patterns: tuple[Pattern | Finder | OwnPattern, ...]) -> str:
        """The text with markers where secrets stand in its folded form."""
        seen = traits(view.text)
        found: list[tuple[int, int, str]] = []
        for pattern in patterns:
            for span in pattern.spans(view.text, seen):
                if span[0] == span[1]:
                    continue
                start, end = view.original(*span)
                if (start, end) == (0, len(text)):
                    return marker(pattern.kind)
                at = bisect.bisect_left(found, (start,))
                free = at == 0 or found[at - 1][1] <= start
                if free and (at == len(found) or end <= found[at][0]):  # else an earlier pattern has it
                    found.insert(at, (start, end, pattern.kind))
        return marked(text, found)

    def _kind_in(self, text: str, depth: int = 2) -> str | None:
        """The kind of the first secret in a text that was decoded, encoded once more perhaps; None where it holds none."""
        seen = traits(text)
        for pattern in self._patterns:
            if next(pattern.spans(text, seen), None) is not None:
                return pattern.kind
        inner = encoded(text, lambda deeper: self._kind_in(deeper, depth - 1)) if depth and seen.run else iter(())
        return next((kind for _, _, kind in inner), None)


def _keys_in(seen: Traits) -> bool:
    """Whether a key may begin in a text, to go on in the next line."""
    return any(map(seen.runs.__contains__, keys.HINTS))
