"""What secrets and personal data look like, and how each is replaced by a marker of its type.

Most texts hold none. What every match of a pattern must have (so many digits, a long run of the characters that keys are
made of, one of its *hints*) is therefore looked for first: it takes a tenth of the expression's time, and the digits and
the run are looked for once for all patterns (:class:`Traits`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from otel_eval.redaction import keys
from otel_eval.redaction.addresses import in_addresses, may_hold_secret
from otel_eval.redaction.assignments import assigned, may_assign
from otel_eval.redaction.blocks import may_hold_key, private_keys
from otel_eval.redaction.markers import EMAIL, PAYMENT_CARD, PHONE, marked, marker
from otel_eval.redaction.numbers import cards, ibans

API_KEY = "api_key"
IBAN = "iban"

_TIME_LIMIT_SECONDS = 1.0
_DIGIT = re.compile(r"\d")
_RUN = re.compile("[A-Za-z\u017f\u212a0-9._~+/=:-]{12,}")  # with the long s and the Kelvin sign, which count as s and k
_LEAST_OF_RUN = 15


class Traits(NamedTuple):
    """Of a text: how many digits it has, and its runs of characters that keys are made of, line by line.

    A run has 12 characters at least, as the beginning of a key that goes on in the next line; ``run``: whether there is one
    as long as the shortest key.
    """

    digits: int
    runs: str
    run: bool


def traits(text: str) -> Traits:
    """Its traits. Putting markers in place of something adds neither digits nor what a key can be made of."""
    runs = _RUN.findall(text)
    digits = sum(map(text.count, "0123456789")) if text.isascii() else len(_DIGIT.findall(text))
    return Traits(digits, "\n".join(runs), bool(runs) and len(max(runs, key=len)) >= _LEAST_OF_RUN)


def _always(_: str) -> bool:
    return True


def _is_phone(text: str) -> bool:
    return 8 <= sum(char.isdigit() for char in text) <= 15


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one type of secret looks like; ``confirms`` decides what a regular expression cannot (a check digit).

    Where the expression has a group ``secret``, that part alone is replaced. Every match has at least so many ``digits``,
    with ``run`` a long run, and one of the ``hints`` where there are some: in any case where they are ``folded``, and within
    that run where they are ``in_run``.
    """

    kind: str
    expression: re.Pattern[str]
    confirms: Callable[[str], bool] = _always
    digits: int = 0
    run: bool = False
    hints: tuple[str, ...] = ()
    folded: bool = False
    in_run: bool = False

    def redact(self, text: str, seen: Traits) -> str:
        """The text with a marker in place of every match."""
        return self.expression.sub(self._replacement, text) if self._may_match(text, seen) else text

    def spans(self, text: str, seen: Traits) -> Iterator[tuple[int, int]]:
        """Where it would put markers."""
        if self._may_match(text, seen):
            group = "secret" if "secret" in self.expression.groupindex else 0
            for match in self.expression.finditer(text):
                if group or self.confirms(match.group()):
                    yield match.span(group)

    def _may_match(self, text: str, seen: Traits) -> bool:
        if seen.digits < self.digits or (self.run and not seen.run):
            return False
        searched = seen.runs if self.in_run else text.casefold() if self.folded else text
        for hint in self.hints:  # a loop, since any() with a generator takes longer than the search
            if hint in searched:
                return True
        return not self.hints

    def _replacement(self, match: re.Match[str]) -> str:
        whole = match.group()
        if "secret" not in self.expression.groupindex:
            return marker(self.kind) if self.confirms(whole) else whole
        start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return whole[:start] + marker(self.kind) + whole[end:]


@dataclass(frozen=True, slots=True)
class Finder:
    """What a function finds, where a regular expression cannot say whether it is one or how far it goes.

    ``may_have`` is the cheap question that comes first: what ``find`` finds has it, and so many ``digits``.
    """

    kind: str
    find: Callable[[str], Iterator[tuple[int, int]]]
    may_have: Callable[[str], object]
    digits: int = 0

    def redact(self, text: str, seen: Traits) -> str:
        """The text with a marker in place of every find."""
        if seen.digits < self.digits or not self.may_have(text):
            return text
        return marked(text, ((start, end, self.kind) for start, end in self.find(text)))

    def spans(self, text: str, seen: Traits) -> Iterator[tuple[int, int]]:
        """Where it would put markers."""
        if seen.digits >= self.digits and self.may_have(text):
            yield from self.find(text)


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A pattern of the user's: nobody knows how long it takes over a text that somebody else wrote.

    Where it takes more than a second, the whole text becomes the marker: what could not be searched does not leave.
    """

    kind: str
    expression: Any

    def redact(self, text: str, seen: Traits) -> str:
        """The text with a marker in place of every match."""
        try:
            return str(self.expression.sub(lambda _: marker(self.kind), text, timeout=_TIME_LIMIT_SECONDS))
        except TimeoutError:
            return marker(self.kind)

    def spans(self, text: str, seen: Traits) -> Iterator[tuple[int, int]]:
        """Where it would put markers; the whole text where it takes too long."""
        try:
            yield from (match.span() for match in self.expression.finditer(text, timeout=_TIME_LIMIT_SECONDS))
        except TimeoutError:
            yield 0, len(text)


_WORDS = r"[A-Za-z/-]*[0-9]{1,4}[A-Za-z/-]*(?![A-Za-z0-9._~+/=-])"  # and a year: the bearer instrument2024
_BEARER = rf"""
    \b (?:bearer|basic) (?:\s+|%20) (?!{_WORDS}) (?P<secret> (?= [^\s0-9]{{0,200}} [0-9]) [A-Za-z0-9._~+/=-]{{16,}} )
"""
_SPACING = r"[ \u00a0\u202f().\-\u2010-\u2015/]"
BUILTIN: tuple[Pattern | Finder, ...] = (
    Finder(API_KEY, private_keys, may_hold_key),
    Pattern(API_KEY, keys.SHAPES, run=True, hints=keys.HINTS, in_run=True),
    Pattern(
        API_KEY,
        re.compile(_BEARER, re.VERBOSE | re.IGNORECASE),
        digits=1,
        run=True,
        hints=("bearer", "basic"),
        folded=True,
    ),
    Finder(API_KEY, assigned, may_assign),
    Finder(API_KEY, in_addresses, may_hold_secret),
    Pattern(
        EMAIL,
        re.compile(
            r"(?<![\w.+-])(?!git@[\w.-]+[:/])\w[\w.+'-]{0,63}(?:[@＠]|%40)"
            r"(?:(?:[\w-]{1,63}\.){1,8}(?!(?:png|jpe?g|gif|svg|webp)\b)(?:xn--[A-Za-z0-9-]{2,59}|[^\W\d_]{2,24})(?![^\W_]|-)"
            r"|\[[0-9A-Fa-f.:]{7,45}\])"
        ),
        hints=("@", "＠", "%40"),
    ),
    Finder(
        IBAN, ibans, re.compile(r"[0-9]{2}(?<=[A-Za-z]{2}[0-9]{2})").search, digits=2
    ),  # the digits first: they are rare
    Finder(PAYMENT_CARD, cards, re.compile(r"\d(?:\D{0,3}\d){13}").search, digits=14),
    Pattern(
        PHONE,
        re.compile(rf"(?<![A-Za-z0-9+])[+＋][1-9](?:{_SPACING}{{0,2}}\d){{7,14}}(?!\d)"),
        _is_phone,
        digits=8,
        hints=("+", "＋"),
    ),
    Pattern(
        PHONE,
        re.compile(rf"00(?<![\w.+-]00)(?<!\d 00)[1-9]\d{{0,2}}{_SPACING}(?:{_SPACING}?\d){{6,12}}(?!\d)"),
        digits=9,
        hints=("00",),
    ),
    Pattern(
        PHONE,
        re.compile(
            r"(?<![\w.-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?[2-9]\d{2}[ .\-\u2010-\u2015]"
            r"|[2-9]\d{2}[.\-\u2010-\u2015][2-9]\d{2}[.\-\u2010-\u2015])\d{4}(?![\w-]|\.\d)"
        ),
        digits=10,
    ),
)
"""In the order in which they are applied: an IBAN before the card number that its digits may contain."""
