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

from otel_eval.redaction.markers import EMAIL, PAYMENT_CARD, PHONE, marked, marker
from otel_eval.redaction.names import assigned, may_assign
from otel_eval.redaction.numbers import cards, ibans

API_KEY = "api_key"
IBAN = "iban"

_TIME_LIMIT_SECONDS = 1.0
_DIGIT = re.compile(r"\d")
_RUN = re.compile("[A-Za-z\u017f\u212a0-9._~+/=:-]{15}")  # with the long s and the Kelvin sign, which count as s and k


class Traits(NamedTuple):
    """Of a text: how many digits it has, and whether it has a run of characters as long as the shortest key."""

    digits: int
    run: bool


def traits(text: str) -> Traits:
    """Its traits. Putting markers in place of something adds neither digits nor what a key can be made of."""
    return Traits(len(_DIGIT.findall(text)), _RUN.search(text) is not None)


def _always(_: str) -> bool:
    return True


def _is_phone(text: str) -> bool:
    return 8 <= sum(char.isdigit() for char in text) <= 15


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one type of secret looks like; ``confirms`` decides what a regular expression cannot (a check digit).

    Where the expression has a group ``secret``, that part alone is replaced. Every match has at least so many ``digits``,
    with ``run`` a long run, and one of the ``hints`` where there are some; in any case where they are ``folded``.
    """

    kind: str
    expression: re.Pattern[str]
    confirms: Callable[[str], bool] = _always
    digits: int = 0
    run: bool = False
    hints: tuple[str, ...] = ()
    folded: bool = False

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
        searched = text.casefold() if self.folded else text
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
        return marked(text, ((start, end, self.kind) for start, end in self.spans(text, seen)))

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


_KEY_BLOCK = r"""
    -----BEGIN\ (?:[A-Z0-9]+\ )*PRIVATE\ KEY(?:\ BLOCK)?----- .*? (?:-----END\ (?:[A-Z0-9]+\ )*PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)
"""
_KEYS = r"""
    (?<![A-Za-z0-9]) (?:
      sk- (?= [A-Za-z_-]{0,100} [0-9]) [A-Za-z0-9_-]{16,}    # OpenAI, Anthropic and many that follow them
    | (?:AKIA|ASIA) [0-9A-Z]{16} \b                          # AWS access key id
    | gh[pousr]_ [A-Za-z0-9]{20,} | github_pat_ [A-Za-z0-9_]{20,} | glpat- [A-Za-z0-9_-]{16,}
    | xox[abeoprs]- [A-Za-z0-9-]{10,} | xapp- [A-Za-z0-9-]{10,} | hooks\.slack\.com/services/ [A-Za-z0-9/]{20,}
    | AIza [0-9A-Za-z_-]{35} | ya29\. [0-9A-Za-z_-]{20,} | GOCSPX- [A-Za-z0-9_-]{20,}
    | hf_ [A-Za-z0-9]{20,} \b
    | [sr]k_ (?:live|test)_ [A-Za-z0-9]{16,} | whsec_ [A-Za-z0-9+/=]{20,}    # Stripe
    | SG\. [A-Za-z0-9_-]{16,} \. [A-Za-z0-9_-]{16,}          # SendGrid
    | npm_ [A-Za-z0-9]{30,} | pypi- [A-Za-z0-9_-]{32,}
    | gsk_ [A-Za-z0-9]{20,} | xai- [A-Za-z0-9]{20,} | r8_ [A-Za-z0-9]{20,} | pplx- [A-Za-z0-9]{20,} | nvapi- [A-Za-z0-9_-]{20,}
    | do[opr]_v1_ [a-f0-9]{32,} | shp(?:at|ca|pa|ss)_ [A-Fa-f0-9]{32} | dapi [a-f0-9]{32} | hv[sb]\. [A-Za-z0-9_-]{20,}
    | lin_api_ [A-Za-z0-9]{20,} | ntn_ [A-Za-z0-9]{20,} | [0-9]{8,10}:AA [A-Za-z0-9_-]{33}    # the last one: Telegram
    | eyJ [A-Za-z0-9_-]{8,} \. eyJ [A-Za-z0-9_-]{8,} \. [A-Za-z0-9_-]*   # JWT
  )
"""
KEY_HINTS = (
    "sk-", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "xapp-",
    "AIza", "ya29.", "hf_", "eyJ", "hooks.slack", "GOCSPX-", "k_live_", "k_test_", "whsec_", "SG.", "npm_", "pypi-", "gsk_",
    "xai-", "r8_", "pplx-", "nvapi-", "_v1_", "shp", "dapi", "hvs.", "hvb.", "lin_api_", "ntn_", ":AA",
)  # fmt: skip
_WORDS = r"[A-Za-z/-]*[0-9]{1,4}[A-Za-z/-]*(?![A-Za-z0-9._~+/=-])"  # and a year: the bearer instrument2024
_BEARER = rf"""
    \b (?:bearer|basic) (?:\s+|%20) (?!{_WORDS}) (?P<secret> (?= [^\s0-9]{{0,200}} [0-9]) [A-Za-z0-9._~+/=-]{{16,}} )
"""
_IN_ADDRESS = r"(?<![A-Za-z0-9])[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,64}:(?P<secret>[^\s/@]{3,200})@"
_SPACING = r"[ \u00a0\u202f().\-\u2010-\u2015/]"
BUILTIN: tuple[Pattern | Finder, ...] = (
    Pattern(API_KEY, re.compile(_KEY_BLOCK, re.VERBOSE | re.DOTALL), hints=("-----BEGIN",)),
    Pattern(API_KEY, re.compile(_KEYS, re.VERBOSE), run=True, hints=KEY_HINTS),
    Pattern(
        API_KEY,
        re.compile(_BEARER, re.VERBOSE | re.IGNORECASE),
        digits=1,
        run=True,
        hints=("bearer", "basic"),
        folded=True,
    ),
    Finder(API_KEY, assigned, may_assign),
    Pattern(API_KEY, re.compile(_IN_ADDRESS), hints=("://",)),
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
    Finder(PAYMENT_CARD, cards, re.compile(r"\d(?:\D{0,3}\d){12}").search, digits=13),
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
