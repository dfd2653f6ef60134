"""Where the value stands that a name in a text is given, and how plainly the place says that it is one.

``=``, a pair of a name and a value and an element of XML say so. After a colon a sentence may go on; after ``is``, an
arrow, a bar, an option of a command or in a list anything may.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["given", "colon", "perhaps"]

_QUOTED = r"""(?P<quote>["'`])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\\n]){1,1000})(?P=quote)"""
# A separator ends a value where another assignment or nothing follows it; what closes or ends a sentence is no part.
_BARE = r"""(?P<bare>(?:(?![&;,]\s?[\w.-]{1,40}\s?[=:]|[;,](?:\s|\Z))[^\s"'`]){1,1000})"""
_VALUE = rf"(?:{_QUOTED}|{_BARE})"
_NAME_KEY = r"(?:name|key|header|field)"
_ASSIGNED = re.compile(
    r"""(?:\s(?:for|of)\s[^\s:=,.;]{1,60}(?:\s[^\s:=,.;]{1,40}){0,3})?"""  # password for the admin account: …
    r"""(?:["'`]\]?|\*\*)?\s{0,5}"""
    r"""(?P<by>=>|:=|[:=：]|(?<=\s)(?:is|was)(?=\s)|->|→|\||(?<=\s)[-–—](?=\s)|(?<=[\w)]\s)(?=["'`]))"""
    r"""(?:\*\*)?\s{0,5}(?:[|>][+-]?[ \t]*\r?\n\s{1,12})?"""  # YAML: the value is the block below
    rf"{_VALUE}",
    re.IGNORECASE,
)
_GIVEN_BY = ("=", "=>", ":=")
_OTHER_FIELDS = r"""(?:["'][\w-]{1,30}["']\s{0,5}:\s{0,5}(?:"[^"\n]{0,80}"|[\w.]{1,30})\s{0,5},\s{0,12}){0,4}"""
_PAIRED = re.compile(
    rf"""["'`]?\s{{0,5}},?\s{{0,12}}{_OTHER_FIELDS}["'`]?val(?:ue)?["'`]?\s{{0,5}}[:=]\s{{0,5}}{_VALUE}""",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"""["']\s{{0,5}},\s{{0,12}}{_QUOTED}""")
_ELEMENT = re.compile(r"(?:\s[^<>]{0,120})?>\s{0,5}(?P<bare>[^<>\s]{1,200})\s{0,5}</")
_OPTION = re.compile(rf"[ \t]{{1,3}}(?!-){_VALUE}")
_VALUE_BEFORE = re.compile(
    r"""val(?:ue)?["']?\s{0,5}[:=]\s{0,5}(?P<quote>["'])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\\n]){1,400})(?P=quote)"""
    rf"""\s{{0,5}},?\s{{0,12}}["']?{_NAME_KEY}["']?\s{{0,5}}[:=]\s{{0,5}}["'][\w .-]{{0,40}}\Z""",
    re.IGNORECASE,
)
_NAMES_IT = re.compile(
    rf"""(?:\A|[^A-Za-z]){_NAME_KEY}["'`]?\s{{0,5}}[:=]\s{{0,5}}["'`]?[\w .-]{{0,40}}\Z""", re.IGNORECASE
)
_LISTS_IT = re.compile(r"""[\[(]\s{0,5}["'][\w .-]{0,40}\Z""")
_OPENS_IT = re.compile(r"<[\w:.-]{0,40}\Z")
_OPTS_FOR_IT = re.compile(r"(?:\A|\s)--?[\w-]{0,40}\Z")
_LOGS_IN = re.compile(r"\blogin\s+\S{1,60}\s+\Z")  # .netrc
_LONGEST_NAME, _FAR_BEFORE = 100, 600


@dataclass(frozen=True, slots=True)
class Found:
    """A value's span, whether it stands in quotes, and what its place says."""

    start: int
    end: int
    quoted: bool
    place: Place


def value_of(text: str, ending: re.Match[str]) -> Found | None:
    """What a name is given whose last word is there: assigned to it, beside it in a pair, or before it; or None."""
    past, start = ending.end(), ending.start()
    far = max(0, start - _LONGEST_NAME)
    if (found := _ASSIGNED.match(text, past)) is not None:
        by = found["by"]
        return _found(found, "given" if by in _GIVEN_BY else "colon" if by in (":", "：") else "perhaps")
    if (found := _PAIRED.match(text, past)) is not None:
        return _found(found, "given") if _NAMES_IT.search(text, far, start) else None
    if (found := _LISTED.match(text, past)) is not None:
        return _found(found, "perhaps") if _LISTS_IT.search(text, far, start) else None
    if (found := _ELEMENT.match(text, past)) is not None:
        return _found(found, "given") if _OPENS_IT.search(text, far, start) else None
    if (found := _OPTION.match(text, past)) is not None:
        if _LOGS_IN.search(text, far, start):
            return _found(found, "given")
        return _found(found, "perhaps") if _OPTS_FOR_IT.search(text, far, start) else None
    if text[past : past + 1] in ('"', "'") and _NAMES_IT.search(text, far, start):
        before = _VALUE_BEFORE.search(text, max(0, start - _FAR_BEFORE), start)
        return None if before is None else _found(before, "given")
    return None


def _found(match: re.Match[str], place: Place) -> Found:
    quoted = match.groupdict().get("quoted") is not None
    return Found(*match.span("quoted" if quoted else "bare"), quoted, place)
