"""Telling a text that a limit cut off from one that is whole.

A JSON container that is cut does not decode. A bare text that is cut looks like any other, so it takes evidence: SDKs cut
every attribute of a span at one length (``OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT``), hence the longest value of the span has
exactly that length, and so has every other one that was cut. That it is a limit is told by a JSON container of that length
which does not end, by two different texts of it, or by a number such as people set limits to and a text that stops in the
middle of a sentence. Instrumentations that cut for themselves mostly say so: ``…[truncated]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from otel_eval.conventions.reading.values import looks_cut
from otel_eval.signals import Span

LIMIT_SETTING = "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"
"""The SDK's variable; ``OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT`` goes before it for spans."""

MARKER = re.compile(
    r"(?:(?:\.{3}|…)\s*)?[\[(<{](?:[\w ,.:-]{0,40}\b)?truncated\b[^\[\](){}<>\n]{0,80}[\])>}]\s*$"
    r"|(?:\.{3}|…)\s*truncated\.?\s*$"
    r"|(?:\.{3}|…)\s*[\[(]?\+?\d+ (?:more )?(?:characters|chars|bytes)\b[^\n]{0,30}$",
    re.I,
)
"""What instrumentations put where they cut: at the end, in brackets or after an ellipsis."""

SHORTEST = 64
"""Nobody sets a limit below; short values of equal length are common."""

_TAIL = 48
_ENDS = frozenset(".!?…\"'`)]}>:;|*。！？」』）")


def tails_of(span: Span) -> tuple[str, ...]:
    """The ends of the span's values that its limit cut; none where nothing says that there is a limit."""
    texts = _texts(span.attributes.values())
    for event in span.events:
        texts += _texts(event.attributes.values())
    lengths = list(map(len, texts))
    longest = max(lengths, default=0)
    if longest < SHORTEST:
        return ()
    if lengths.count(longest) == 1:  # as nearly always
        longest_text = texts[lengths.index(longest)]
        found = [] if _is_whole(longest_text) else [longest_text]
    else:
        found = list(dict.fromkeys(text for text in texts if len(text) == longest and not _is_whole(text)))
    if not found or not (len(found) > 1 or looks_cut(found[0]) or (_is_usual(longest) and _stops(found[0]))):
        return ()
    return tuple(dict.fromkeys(tail for text in found if (tail := _tail(text))))


def is_cut(value: object, tails: Iterable[str] = ()) -> bool:
    """Whether a text ends where a limit cut, or says that it was cut; for an object or array, whether a text in it
    says so."""
    if isinstance(value, str):
        return _says_cut(value) or any(map(value.endswith, tails))
    return any(map(_says_cut, _leaves(value, 0)))


def _says_cut(text: str) -> bool:
    """Whether it ends with the marker of an instrumentation that cuts. Looking for its parts first takes a tenth."""
    end = text[-160:]
    told = "..." in end or "\u2026" in end or "truncated" in end.lower()
    return told and MARKER.search(end) is not None


def _texts(values: Iterable[Any]) -> list[str]:
    texts = []
    for value in values:
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, (list, tuple)):
            texts += [item for item in value if isinstance(item, str)]
    return texts


def _is_whole(text: str) -> bool:
    """Whether it is JSON, or an identifier of one word, that ends as it should."""
    start, end = text.lstrip()[:1], text.rstrip()[-1:]
    return (start, end) in (("{", "}"), ("[", "]"), ('"', '"')) or not any(character.isspace() for character in text)


def _is_usual(length: int) -> bool:
    return length % 100 == 0 or length & (length - 1) == 0


def _stops(text: str) -> bool:
    """Whether it breaks off: the last character does not end a sentence, a list or a line of code."""
    return text[-1] not in _ENDS and not text[-1].isspace()


def _tail(text: str) -> str:
    """The end by which the text is found again once it is decoded: after the last escape, if it is inside JSON."""
    end = text[-_TAIL:]
    if text.lstrip()[:1] in ("{", "[", '"'):
        end = re.split(r'\\.?|"', end)[-1]
    return end


def _leaves(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < 8:
        inner = value.values() if isinstance(value, (dict, Mapping)) else value if isinstance(value, list) else ()
        for item in inner:
            yield from _leaves(item, depth + 1)
