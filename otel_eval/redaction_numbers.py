"""Numbers that a regular expression alone does not find: payment cards and IBANs among other digits and words.

``4111 1111 1111 1111 123`` is a card and its code, ``BE68 5390 0754 7034 EUR 50`` an IBAN and an amount: how far the number
goes shows only in its check digits. Separators are single: spaces and dashes of typography, and what cannot be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SEPARATOR = r"[ \u00a0\u2007\u2009\u200b-\u200d\u202f\u2060\-\u2010-\u2015\u2212]"

_GROUP = re.compile(r"\d+")
_RUN = re.compile(rf"(?<!\d)(?<!\d\.)\d(?:{SEPARATOR}?\d){{12,}}")
_SPREAD = re.compile(
    r"(?<!\d)(?<!\d[./])\d{4}(?:(?P<by>[./_\n]| {2,3}| [-\u2013] |\r\n)\d{4})(?:(?P=by)\d{4}){2}(?!\d|[./]\d)"
)
_SHAPES = re.compile(r"4444(?:[123])?|465|464")
_LEAST, _MOST = 13, 19

_IBAN_HEAD = re.compile(r"(?:(?<![A-Za-z0-9])|(?<=IBAN))[A-Za-z]{2}[0-9]{2}")
_IBAN_SEPARATOR = re.compile(SEPARATOR.replace(r"\-", r".\-"))
# Source: the IBAN registry that SWIFT keeps for ISO 13616.
_IBAN_LENGTHS = {
    length: frozenset(countries.split())
    for length, countries in {
        15: "NO", 16: "BE", 18: "DK FI FK FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK", 21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST",
        26: "IS TR", 27: "DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HN HU LB NI PL SV", 29: "BR EG PS QA UA",
        30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
    }.items()
}  # fmt: skip
_LENGTH_OF = {country: length for length, countries in _IBAN_LENGTHS.items() for country in countries}


def passes_luhn(digits: str) -> bool:
    """Whether a run of digits has a right check digit. Source: ISO/IEC 7812-1, annex B."""
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if index % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def passes_mod_97(iban: str) -> bool:
    """Whether an IBAN, spaces aside, has right check digits. Source: ISO 13616, ISO 7064 MOD 97-10."""
    compact = re.sub(r"\s", "", iban).upper()
    number = "".join(str(int(char, 36)) for char in compact[4:] + compact[:4])
    return 15 <= len(compact) <= 34 and int(number) % 97 == 1


def cards(text: str) -> Iterator[tuple[int, int]]:
    """Where payment cards stand, from left to right: whole runs of digits, and groups in a card's shape within a run."""
    taken = 0
    found = sorted([*_cards_in_runs(text), *(match.span() for match in _SPREAD.finditer(text) if _is_card(match[0]))])
    for start, end in found:
        if start >= taken:
            yield start, end
            taken = end


def ibans(text: str) -> Iterator[tuple[int, int]]:
    """Where IBANs stand, from left to right, as long as those of their country are."""
    taken = 0
    for head in _IBAN_HEAD.finditer(text):
        length = _LENGTH_OF.get(head[0][:2].upper())
        if length is None or head.start() < taken:
            continue
        end = _after(text, head.start(), length)
        if end is None or (end < len(text) and text[end].isalnum() and text[end].isascii()):
            continue
        if passes_mod_97("".join(char for char in text[head.start() : end] if char.isalnum())):
            yield head.start(), end
            taken = end


def _cards_in_runs(text: str) -> Iterator[tuple[int, int]]:
    for run in _RUN.finditer(text):
        if _is_card(run[0]):
            yield run.span()
            continue
        groups = [group.span() for group in _GROUP.finditer(text, *run.span())]
        first = 0
        while first < len(groups):
            past = _card_from(text, groups, first)
            if past is None:
                first += 1
            else:
                yield groups[first][0], groups[past - 1][1]
                first = past


def _card_from(text: str, groups: list[tuple[int, int]], first: int) -> int | None:
    """The group after the card that begins with this one, or None."""
    for past in range(min(first + 5, len(groups)), first, -1):
        members = groups[first:past]
        shape = "".join(str(end - start) for start, end in members)
        if (past - first == 1 or _SHAPES.fullmatch(shape)) and _is_card(text[members[0][0] : members[-1][1]]):
            return past
    return None


def _is_card(text: str) -> bool:
    digits = "".join(str(int(char)) for char in text if char.isdecimal())
    return _LEAST <= len(digits) <= _MOST and digits[0] in "23456" and passes_luhn(digits)


def _after(text: str, start: int, length: int) -> int | None:
    """Where that many letters and digits end, single separators between them; None where there are fewer."""
    place, seen, separated = start, 0, False
    while seen < length:
        if place >= len(text):
            return None
        char = text[place]
        if char.isascii() and char.isalnum():
            seen, separated = seen + 1, False
        elif separated or _IBAN_SEPARATOR.match(char) is None:
            return None
        else:
            separated = True
        place += 1
    return place
