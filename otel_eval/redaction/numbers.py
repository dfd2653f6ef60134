"""Numbers that a regular expression alone does not find: payment cards and IBANs among other digits and words.

``4111 1111 1111 1111 123`` is a card and its code, ``BE68 5390 0754 7034 EUR 50`` an IBAN and an amount: how far the number
goes shows only in its check digits. Separators are single: spaces and dashes of typography, and what cannot be seen.
One in ten numbers has a card's check digit, so a card also begins as those of an issuer do, is as long, and is written in one
piece or in the groups that are printed on it: dates, ids and digests beside each other are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SEPARATOR = r"[ \u00a0\u2007\u2009\u200b-\u200d\u202f\u2060\-\u2010-\u2015\u2212]"

_SOLID = re.compile(r"(?<![A-Za-z\d])(?<!\d\.)\d{14,19}(?![A-Za-z\d])")
_GROUP = re.compile(r"\d+")
_RUN = re.compile(  # beside a letter at most that is no digit of a hexadecimal number: groups alone say much
    rf"(?<![A-Fa-f\d])(?<!\d\.)\d{{1,9}}(?P<by>{SEPARATOR}|[./_\n]| {{2,3}}| [-\u2013] |\r\n)\d{{1,9}}"
    r"(?:(?P=by)\d{1,9})+(?![A-Fa-f\d])"
)
_SHAPES = ((4, 4, 4, 4, 3), (4, 4, 4, 4), (4, 6, 5), (4, 6, 4))
# More numbers than an index, an expiry date and a code beside a card make a table, in which some would pass for one.
_MOST_BESIDE = 3
# Which numbers the issuers have, and of which lengths. Source: ISO/IEC 7812 and what the card schemes publish: Visa,
# Mastercard, American Express, Diners, JCB, Mir, Maestro and Dankort and Elo, then Discover, RuPay and UnionPay. Visa has
# issued none of 13 digits for decades, and one in ten of the article numbers that begin with 4 would pass for one.
_ISSUED = re.compile(
    r"4(?:\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-59]|[689]\d)\d{11}(?:\d{2,5})?|35(?:2[89]|[3-8]\d)\d{12,15}|220[0-5]\d{12,15}"
    r"|(?:50(?:18|19|20|38|[6-9]\d)|5893|6304|67\d\d)\d{12,15}|6(?:0\d\d|2\d\d|4[4-9]\d|5\d\d)\d{12,15}"
)
_TIME = r"(?:[01]\d|2[0-3])[0-5]\d"
_TIMES = re.compile(rf"(?:{_TIME}){{4}}|(?:[0-2]\d|3[01])(?:0\d|1[0-2])(?:19|20)\d\d{_TIME}[0-5]\d")

_IBAN_HEAD = re.compile(r"(?:(?<![A-Za-z0-9])|(?<=IBAN))[A-Za-z]{2}[0-9]{2}")
_IBAN_SEPARATOR = re.compile(SEPARATOR.replace(r"\-", r".\-"))
# What follows the check digits: so many digits (n), letters (a), or either (c).
# Source: the IBAN registry that SWIFT keeps for ISO 13616.
_IBAN_STRUCTURES = {
    "n11": "NO", "n12": "BE", "n14": "DK FI FO GL SD", "a2 n12": "FK", "a4 n10": "NL", "n3 c10 n2": "MK", "n15": "SI",
    "n16": "AT BA EE LT MN XK", "n3 c13": "KZ LU", "n5 c12": "CH LI", "n17": "HR", "a4 c13": "LV", "a4 n6 c8": "BG",
    "a4 c14": "BH", "n18": "CR DE ME RS VA", "a4 n14": "GB IE", "a2 n16": "GE", "n19": "AE IL SO TL", "a4 c15": "GI",
    "a4 n15": "IQ", "n3 c16": "OM", "n8 c12": "AD", "n20": "CZ ES SE SK TN", "c20": "MD", "a4 c16": "PK RO", "n2 c18": "SA",
    "a4 n16": "VG", "n21": "LY PT ST", "n22": "IS", "n6 c16": "TR", "n23": "BI DJ MR", "n10 c11 n2": "FR MC", "n7 c16": "GR",
    "a1 n10 c12": "IT SM", "n8 c16": "AL CY", "a4 c20": "AZ", "c4 n4 c16": "BY", "c4 n20": "DO", "c24": "GT",
    "a4 n20": "HN NI SV", "n24": "HU PL", "n4 c20": "LB", "n23 a1 c1": "BR", "n25": "EG", "a4 c21": "PS QA", "n6 c19": "UA",
    "a4 n4 c18": "JO YE", "a4 c22": "KW", "a4 n19 a3": "MU", "a4 n5 c18": "MT", "a4 n20 a3": "SC", "a4 c24": "LC", "n14 c15": "RU",
}  # fmt: skip
_CHARACTERS = {"n": "[0-9]", "a": "[A-Za-z]", "c": "[A-Za-z0-9]"}


def _account(structure: str) -> tuple[int, re.Pattern[str]]:
    """How long an IBAN of that structure is, and what it looks like without separators."""
    parts = [(part[0], int(part[1:])) for part in structure.split()]
    expression = "".join(f"{_CHARACTERS[kind]}{{{count}}}" for kind, count in parts)
    return 4 + sum(count for _, count in parts), re.compile("[A-Za-z]{2}[0-9]{2}" + expression)


_IBANS = {
    country: account
    for structure, countries in _IBAN_STRUCTURES.items()
    for account in (_account(structure),)
    for country in countries.split()
}


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
    """Where payment cards stand, from left to right: their digits alone, or in their issuers' groups."""
    taken = 0
    solid = (match.span() for match in _SOLID.finditer(text) if _is_card(match[0]))
    for start, end in sorted([*solid, *_grouped(text)]):
        if start >= taken:
            yield start, end
            taken = end


def ibans(text: str) -> Iterator[tuple[int, int]]:
    """Where IBANs stand, from left to right, as long as those of their country are and built like them."""
    taken = 0
    for head in _IBAN_HEAD.finditer(text):
        account = _IBANS.get(head[0][:2].upper())
        if account is None or head.start() < taken:
            continue
        length, structure = account
        end = _after(text, head.start(), length)
        if end is None or (end < len(text) and text[end].isalnum() and text[end].isascii()):
            continue
        compact = "".join(char for char in text[head.start() : end] if char.isalnum())
        if structure.fullmatch(compact) and passes_mod_97(compact):
            yield head.start(), end
            taken = end


def _grouped(text: str) -> Iterator[tuple[int, int]]:
    """The cards in runs of groups with the same separator between them, unless the run is a table of numbers."""
    position = 0
    while (run := _RUN.search(text, position)) is not None:
        groups = [group.span() for group in _GROUP.finditer(text, *run.span())]
        found = list(_cards_among(text, groups))
        beside = len(groups) - sum(past - first for first, past in found)
        if beside <= (0 if run["by"] in "./" else _MOST_BESIDE):
            yield from ((groups[first][0], groups[past - 1][1]) for first, past in found)
        position = groups[-1][0]  # with which a run of another separator may begin


def _cards_among(text: str, groups: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Which groups are cards, as the first and the one after the last."""
    first = 0
    while first < len(groups):
        past = _card_from(text, groups, first)
        if past is not None:
            yield first, past
        first = first + 1 if past is None else past


def _card_from(text: str, groups: list[tuple[int, int]], first: int) -> int | None:
    """The group after the card that begins with this one, or None."""
    for shape in _SHAPES:
        members = groups[first : first + len(shape)]
        if tuple(end - start for start, end in members) == shape and _is_card(text[members[0][0] : members[-1][1]]):
            return first + len(shape)
    return None


def _is_card(text: str) -> bool:
    digits = "".join(str(int(char)) for char in text if char.isdecimal())
    return _ISSUED.fullmatch(digits) is not None and passes_luhn(digits) and _TIMES.fullmatch(digits) is None


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
