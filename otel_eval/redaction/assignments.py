"""Secrets in a text that are known by the name before them: ``password: hunter22!``, ``{"api_key": "..."}``, ``?token=...``.

What looks like nothing by itself is a secret there, and its whole value goes. The same names stand before prose ("password:
please choose one"), placeholders and code (``token=settings.TOKEN``), which stay: the less the place says (a colon without
quotes), the more the value must look like a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from otel_eval.redaction import headers
from otel_eval.redaction.names import ENDING, HINTS, Kind, kind_of_ending
from otel_eval.redaction.places import Found, Place, value_of
from otel_eval.redaction.values import (
    LEAST_OF_KEY,
    LEAST_OF_TOKEN,
    LEAST_OF_TOKEN_IN_PROSE,
    is_code,
    is_mixed,
    is_prose,
    is_variable,
    is_word_of_passwords,
    looks_random,
    says_nothing,
)

_ENDING = re.compile(ENDING, re.IGNORECASE)
_COOKIES = re.compile(r"""["'`]?\s{0,5}[:=]\s{0,5}\[?\s{0,5}["'`]?(?=[^\s"'`;=]{1,64}=)""")
_ENDS = ".,;:)]}>"
# The value was all that the line had to say, or another of the credentials follows.
_ALONE = re.compile(
    r"""[.,;:)\]}>"'`*|]{0,4}[ \t]*(?:\r?\n|\Z|[,;|/&]?\s*(?:user|login|host|port|e-?mail|url|server|db|database|domain|account)\w{0,12}\s?[:=])""",
    re.IGNORECASE,
)
_AFTER_USER = re.compile(
    r"(?:user(?:[ _-]?name)?|login|e-?mail)\s?[:=]\s?[^\s,;]{1,60}[\s,;/|]{1,4}(?:and\s)?(?:the\s|your\s)?\Z",
    re.IGNORECASE,
)
_FAR_BEFORE, _LEAST_WORD, _LEAST_IN_LIST = 100, 4, 16


def may_assign(text: str) -> bool:
    """Whether a secret's name may stand in the text; never False where :func:`assigned` finds something."""
    searched = _lowered(text)
    return any(map(searched.__contains__, HINTS))


def assigned(text: str) -> Iterator[tuple[int, int]]:
    """Where values stand that are secrets by their names, from left to right."""
    taken = 0
    for place in _endings(text):
        if place < taken:
            continue
        for start, end in _secrets_of(text, place):
            if start >= taken:
                yield start, end
                taken = end


def _lowered(text: str) -> str:
    """In lower case, as long as the text, and with a letter for the one that means it where case is ignored."""
    return text.lower() if text.isascii() else text.replace("\u0130", "I").lower().replace("\u017f", "s")


def _endings(text: str) -> list[int]:
    """Where words stand that may be the last of a secret's name."""
    searched, places = _lowered(text), set()
    for hint in HINTS:
        at = searched.find(hint)
        while at >= 0:
            places.add(at)
            at = searched.find(hint, at + len(hint))
    return sorted(places)


def _secrets_of(text: str, place: int) -> Iterator[tuple[int, int]]:
    """The secrets that belong to the name whose last word begins there."""
    ending = _ENDING.match(text, place)
    if ending is None:
        return
    if ending["cookie"] is not None:
        header = _COOKIES.match(text, ending.end())
        if header is not None:
            yield from headers.cookie_values(text, header.end())
            return
    found = value_of(text, ending)
    kind = None if found is None else kind_of_ending(text, ending)
    if found is None or kind is None:
        return
    if kind == "cookie":
        yield from headers.cookie_values(text, found.start)
    elif (span := _secret_in(text, found, kind, ending)) is not None:
        yield span


def _secret_in(text: str, found: Found, kind: Kind, ending: re.Match[str]) -> tuple[int, int] | None:
    """The span of the secret in what a name is given; None where the value is none."""
    start, end = found.start, found.end
    if kind in ("authorization", "auth"):
        return headers.credentials(text, start, quoted=found.quoted, named=kind == "authorization")
    if found.quoted:
        return (start, end) if _is_quoted_secret(kind, text[start:end], ending, found.place) else None
    if text[end - 1] == ":" and "\n" in text[ending.end() : start]:
        return None  # the next name
    follows = text[end : end + 1]
    end = start + len(text[start:end].rstrip(_ENDS))
    code = text[end : end + 1] in (",", ")", "]") or follows in ('"', "'", "`")
    if found.place == "colon" and kind == "password" and text[start:end].isalpha():
        secret = _is_word_for_password(text, (start, end), ending)
    else:
        secret = _is_bare_secret(kind, text[start:end], found.place, in_code=code)
    return (start, end) if secret and start < end else None


def _is_quoted_secret(kind: Kind, value: str, ending: re.Match[str], place: Place) -> bool:
    """Whether a value in quotes is a secret: all of it is the value, but two strings in a list may be any two."""
    if says_nothing(value) or (is_prose(value) and not ending.group().lower().endswith("phrase")):
        return False
    if value[0] in _ENDS:  # the quotation mark closed what the name stands in: input('Password: ');
        return False
    if kind == "password":
        return is_mixed(value) if place == "perhaps" else not is_word_of_passwords(value)
    return not is_variable(value) and looks_random(value, _LEAST_IN_LIST if place == "perhaps" else LEAST_OF_KEY)


def _is_bare_secret(kind: Kind, value: str, place: Place, *, in_code: bool) -> bool:
    """Whether a value without quotes is a secret: after a colon it may as well be the first word of a sentence."""
    if says_nothing(value) or is_code(value) or value.startswith(("/", "\\", "./", "~")):
        return False
    if kind != "password":
        of_token = LEAST_OF_TOKEN if place == "given" else LEAST_OF_TOKEN_IN_PROSE
        return not is_variable(value) and looks_random(value, of_token if kind == "token" else LEAST_OF_KEY)
    if place == "given":
        return not is_variable(value) and not is_word_of_passwords(value) and not (in_code and value.isalpha())
    if value.isdecimal():
        return len(value) >= (_LEAST_WORD if place == "colon" else LEAST_OF_KEY)
    return is_mixed(value)


def _is_word_for_password(text: str, span: tuple[int, int], ending: re.Match[str]) -> bool:
    """Whether a word after ``password:`` is one: it ends the line, or stands among credentials, and is not said of any."""
    start, end = span
    word = text[start:end]
    if (
        len(word) < _LEAST_WORD
        or "\n" in text[ending.end() : start]
        or says_nothing(word)
        or is_word_of_passwords(word)
    ):
        return False
    if ending["elsewhere"] is not None:
        return False  # what is said of passwords in other languages is not known
    name = ending.start()
    return _ALONE.match(text, end) is not None or _AFTER_USER.search(text, max(0, name - _FAR_BEFORE), name) is not None
