"""Masks: asterisks (or bullets) in place of what was there, told from those that are typography.

The Collector's redaction processor writes ``****`` whatever it hides, Dash0 ``*****``, and Sentry, Azure and Amazon
Comprehend one for each character; with the transform processor everybody writes their own, ``***`` as often as not. The
same characters emphasise, rule lines off, rate hotels, open comments and stand in swear words, so where a run stands
decides.

A mask that keeps a card's last four digits (``**** 1111``) is how agents and shops show one to its owner, and hides nothing
from them; only one as long as the card (``****-****-****-1111``) may be what is left of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SIGNS = ("***", "XXXX", "xxxx", "••••", "●●●●")
_RUN = re.compile(r"\*{3,}|[•●]{4,}")
_CARD = re.compile(r"(?<![\w*•●])(?:(?:[*•●]{4}|X{4}|x{4})[ -]?){3}\d{4}(?!\w)")
_WHOLE = re.compile(r"\s*+(?:(?:\*{3,}+|[•●]{4,}+)\s*+)++")
_BREAK = re.compile(r"\r?\n|\\n")  # of lines, also within JSON
_BLANK_END = re.compile(r"(?:\\n|\s)+\Z")
_BLANK_ABOVE = re.compile(r"(?:\n|\\n)[ \t]*\r?(?:\n|\\n)\Z")
_BLANK_BELOW = re.compile(r"\r?(?:\n|\\n)[ \t]*\r?(?:\n|\\n|\Z)")
_NEAR = 200
"""How far a run's surroundings are looked at, in characters."""
_USUAL = 4
"""How long the Collector's mask is."""
_LONGEST_RATING = 5

_COMMENT_OPENS, _COMMENT_CLOSES = re.compile(r"(?:\A|\s)/\Z"), re.compile(r"/")
_INTRODUCED = re.compile(r"[:：=]\s*\Z")
_BANNER = re.compile(r"[\s#/;|\"'-]*(\*{3,})(?=[^*\n]*[^\W\d_])([^*\n]+)(\*{3,})[\s#/;|\"'-]*")
_HEADINGS = re.compile(r"^\*{2,3} \S", re.MULTILINE)
_HUNK = re.compile(r"\*{3} [\d,]+ ")
_RATED_BEFORE = re.compile(
    r"\b(?:(?:hotel|inn|resort|hostel)(?:\s[\w'-]+){0,3}|rating|rated|review|score|stars?)[:\s(]{0,3}\Z", re.IGNORECASE
)
_RATED_AFTER = re.compile(r"[-\s)]{0,2}(?:hotel|inn\b|resort|hostel|stars?\b|superior)", re.IGNORECASE)
_LAST_FOUR = re.compile(r"[ -]?\d{4}(?![\d-])")
_SWEARING = re.compile(r"(?:\A|[^\w*])[^\W\d_]\Z")
_BOLD = re.compile(r"(?<!\*)\*\*(?!\*)")
_OPEN_BEFORE, _OPEN_AFTER = re.compile(r"(?:\A|[\s=:(,|>/@])\Z"), re.compile(r"\Z|[\s.,;:!?)|@&/<]")
_QUOTE_OPENS, _QUOTE_CLOSES = re.compile(r"[\"'`]\Z"), re.compile(r"\\*[\"'`]")


def may_mask(text: str) -> bool:
    """Cheap, and never wrong when it says no."""
    return any(sign in text for sign in _SIGNS)


def masks(text: str) -> Iterator[tuple[int, int]]:
    """Where masks stand, from left to right: (start, end) pairs that do not overlap."""
    if not may_mask(text):
        return
    if _WHOLE.fullmatch(text):
        yield 0, len(text)
        return
    past = 0
    cards = {match.start(): match.end() for match in _CARD.finditer(text)}
    for start in sorted({*cards, *(match.start() for match in _RUN.finditer(text))}):
        if start < past:
            continue
        run = _RUN.match(text, start)
        end = cards.get(start) or (run.end() if run is not None and _Place(text, start, run.end()).masks() else start)
        if end > start:
            yield start, end
            past = end


class _Place:
    """A run and what is around it on its line."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._run, self._length = text, text[start:end], end - start
        above = [match.end() for match in _BREAK.finditer(text, max(0, start - _NEAR), start)]
        below = _BREAK.search(text, end, end + _NEAR)
        begins = above[-1] if above else max(0, start - _NEAR)
        ends = below.start() if below is not None else min(len(text), end + _NEAR)
        self._above, self._before = text[max(0, begins - _NEAR) : begins], text[begins:start]
        self._after, self._below = text[end:ends], text[ends : ends + _NEAR]
        opened, closed = _QUOTE_OPENS.search(self._before), _QUOTE_CLOSES.match(self._after)
        self._quoted = opened is not None and closed is not None
        if opened is not None:  # a text in JSON begins
            self._above = self._before = ""
        elif closed is not None:
            self._after = self._below = ""

    def masks(self) -> bool:
        """Whether the run stands for something that was there."""
        if self._quoted:
            return True
        if not self._before.strip("> \t") and not self._after.strip():
            return self._masks_line()
        if self._is_comment() or self._is_heading() or self._is_rating():
            return False
        if self._length < _USUAL:
            return self._stands_alone()
        return not (self._is_banner() or self._shows_last_four() or self._is_censorship() or self._is_emphasis())

    def _masks_line(self) -> bool:
        """Alone on its line, it rules off, unless a colon asks for what was there or it is the usual one, amid the text."""
        if _INTRODUCED.search(_BLANK_END.sub("", self._above)):
            return True
        if self._length != _USUAL:
            return False
        apart_above = not self._above or _BLANK_ABOVE.search(self._above) is not None
        apart_below = not self._below or _BLANK_BELOW.match(self._below) is not None
        return not (apart_above and apart_below)

    def _is_comment(self) -> bool:
        opens = _COMMENT_OPENS.search(self._before) is not None
        return opens or (_COMMENT_CLOSES.match(self._after) is not None and self._before[-1:].strip() == "")

    def _is_heading(self) -> bool:
        """Of Org, or the beginning of a notice or a patch (``*** Begin Patch``), or a hunk of one (``*** 1,4 ****``)."""
        if _HUNK.fullmatch(self._before) is not None and not self._after.strip():
            return True
        if self._before.strip() or not self._after.startswith(" "):
            return False
        return self._length < _USUAL or _HEADINGS.search(self._text) is not None

    def _is_rating(self) -> bool:
        if self._length > _LONGEST_RATING:
            return False
        return _RATED_BEFORE.search(self._before) is not None or _RATED_AFTER.match(self._after) is not None

    def _is_banner(self) -> bool:
        banner = _BANNER.fullmatch(self._before + self._run + self._after)
        return banner is not None and (self._length != _USUAL or banner[2].upper() == banner[2])

    def _stands_alone(self) -> bool:
        """Three mask only by themselves: they emphasise otherwise, and ``make: *** [all] Error 1`` notifies."""
        if "***" in self._before or (self._before.endswith(": ") and self._after.startswith(" ")):
            return False
        if self._after.startswith("@"):
            return True
        return _OPEN_BEFORE.search(self._before) is not None and _OPEN_AFTER.match(self._after) is not None

    def _shows_last_four(self) -> bool:
        apart = not self._before[-1:].isalnum()
        return apart and self._length == _USUAL and _LAST_FOUR.match(self._after) is not None

    def _is_censorship(self) -> bool:
        return _SWEARING.search(self._before) is not None and not self._after.startswith("@")

    def _is_emphasis(self) -> bool:
        """Two bold pieces that meet (``**a:****b**``), or a piece between such runs."""
        left, right, run = self._before[-1:], self._after[:1], re.escape(self._run)
        if left.strip() and right.isalnum():
            met = self._length == _USUAL and not (left + right).strip("@").isdecimal()
            return met and all(len(_BOLD.findall(side)) % 2 for side in (self._before, self._after))
        if right.isalnum():
            return re.search(rf"\S{run}(?![\w*])", self._after) is not None
        return left.strip() != "" and re.search(rf"(?<![\w*]){run}\w", self._before) is not None
