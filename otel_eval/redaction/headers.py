"""Headers that carry secrets: the credentials of ``Authorization``, and the values of ``Cookie`` and ``Set-Cookie``.

How much is needed depends on the place: ``Authorization: Bearer expired`` may be a sentence, a string under that key is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from otel_eval.redaction.values import (
    LEAST_OF_KEY,
    encodes_login,
    has_digits_or_cases,
    is_code,
    looks_random,
    says_nothing,
)

NAMES = frozenset(
    {"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token"}
)
"""Headers, in lower case, that announce a secret wherever they stand as a text of their own."""

_SCHEME = re.compile(
    r"(?:bearer|basic|token|digest|api-?key|key|negotiate|ntlm|aws4-hmac-sha256)\s+(?=\S)", re.IGNORECASE
)
_CREDENTIALS = re.compile(r"[^\s\"'`]{4,}")
_LONG_ALONE, _LONG_IN_LETTERS, _LEAST_IN_QUOTES = 16, 20, 4

_PAIR = re.compile(r"""(?P<name>[\w!#$%*+.^|~-]{1,64})=(?P<value>[^\s;,"'`]{0,4096})""")
_FLAG = re.compile(r"[A-Za-z-]{1,20}(?==|\s*[;\n\"']|\s*\Z)")
_NEXT = re.compile(r"(?:\s[^;=]{1,40})?;\s{0,5}")  # a date of Expires has spaces
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "version", "priority", "comment", "size"})
_OF_SESSIONS = re.compile(r"sess|sid\b|\bsid|auth|token|login|jwt|csrf|xsrf|remember|secret|passw", re.IGNORECASE)


def credentials(text: str, start: int, *, quoted: bool, named: bool = True) -> tuple[int, int] | None:
    """Where the credentials of an ``Authorization`` header stand whose value begins there, after their scheme; or None."""
    scheme = _SCHEME.match(text, start)
    match = _CREDENTIALS.match(text, scheme.end() if scheme else start)
    if match is None or not is_credentials(text[start : match.end()], quoted=quoted, named=named):
        return None
    return match.span()


def is_credentials(value: str, *, quoted: bool, named: bool = True) -> bool:
    """Whether it is what such a header says.

    ``quoted``: it stands there as a value, so that no sentence can go on. Not ``named``: under ``auth``, which may be
    much else.
    """
    scheme = _SCHEME.match(value)
    rest = value[scheme.end() :] if scheme else value
    if says_nothing(rest) or is_code(rest):
        return False
    if scheme is None:
        return encodes_login(rest) or (named and len(rest) >= _LONG_ALONE and has_digits_or_cases(rest))
    if quoted:
        return len(rest) >= _LEAST_IN_QUOTES and not any(char.isspace() for char in rest)
    if has_digits_or_cases(rest):
        return len(rest) >= LEAST_OF_KEY
    return len(rest) >= _LONG_IN_LETTERS and rest.isalpha()


def cookie_values(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the secrets of a ``Cookie`` or ``Set-Cookie`` header stand whose value begins there, from left to right.

    What a cookie says of itself stays, and so do settings such as ``theme=dark``.
    """
    match = _PAIR.match(text, start)
    while match is not None:
        if match.re is _PAIR and is_cookie_secret(match["name"], match["value"]):
            yield match.span("value")
        following = _NEXT.match(text, match.end())
        if following is None:
            return
        match = _PAIR.match(text, following.end()) or _FLAG.match(text, following.end())


def is_cookie_secret(name: str, value: str) -> bool:
    """Whether a cookie's value is one: of a session by its name, or not made of a word."""
    if name.lower() in _ATTRIBUTES or says_nothing(value):
        return False
    if _OF_SESSIONS.search(name):
        return len(value) >= _LEAST_IN_QUOTES
    return looks_random(value, LEAST_OF_KEY) or len(value) >= _LONG_IN_LETTERS
