"""Secrets in addresses: what stands before the host, and parameters that sign a request or open a session.

Commands take the first of them beside the address, too: ``curl -u bob:hunter2 https://…``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from otel_eval.redaction.values import looks_random, says_nothing

_USER = re.compile(  # not the digest of an image: docker://alpine:3.19@sha256:…
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://"
    r"(?:[^\s/:@?#\"'<>]{0,64}:(?P<password>[^\s/?#\"'<>\[\]]{1,200})|(?P<user>[^\s/:@?#\"'<>\[]{16,200}))@(?!sha256:)"
)
_PARAMETER = re.compile(
    r"[?&;](?:[A-Za-z-]{0,16}[_-])?(?P<name>sig(?:nature)?|hmac|key|code|jwt|sas|ticket|auth|jsessionid|phpsessid|assertion)="
    r"(?P<value>[^\s&;?\"'`<>()\[\]{}#]{8,4096})",
    re.IGNORECASE,
)
_OF_CURL = re.compile(
    r"""\bcurl\b[^\n]{0,500}?\s(?:-u|--user)[ =]?["']?[^\s:"'0-9][^\s:"']{0,63}:(?P<password>[^\s"']{1,200})"""
)
# Offers and articles: WELCOME2026OFFER1, product-2026-blue-shirt.
_SAYS_WHAT = re.compile(r"[A-Z]+[0-9]+(?:[A-Z]+[0-9]*)?|(?:[A-Za-z]+|[0-9]{1,8})(?:[-_](?:[A-Za-z]+|[0-9]{1,8}))+")
_SIGNS = frozenset({"sig", "signature", "hmac"})
_LONG = 16


def may_hold_secret(text: str) -> bool:
    """Whether an address with one may stand in the text; never False where :func:`in_addresses` finds something."""
    return "://" in text or "curl" in text or ("=" in text and ("?" in text or "&" in text or ";" in text))


def in_addresses(text: str) -> Iterator[tuple[int, int]]:
    """Where they stand, from left to right."""
    taken = 0
    for start, end in sorted([*_users(text), *_parameters(text)]):
        if start >= taken:
            yield start, end
            taken = end


def _users(text: str) -> Iterator[tuple[int, int]]:
    if "curl" in text:
        yield from (match.span("password") for match in _OF_CURL.finditer(text) if not says_nothing(match["password"]))
    if "@" not in text or "://" not in text:
        return
    for match in _USER.finditer(text):
        if match["password"] is not None:
            if not says_nothing(match["password"]):
                yield match.span("password")
        elif looks_random(match["user"], _LONG):
            yield match.span("user")


def _parameters(text: str) -> Iterator[tuple[int, int]]:
    for match in _PARAMETER.finditer(text):
        start, end = match.span("value")
        end = start + len(text[start:end].rstrip(".,:!*"))
        value = text[start:end]
        signs = match["name"].lower() in _SIGNS
        if looks_random(value.replace("%", ""), 8 if signs else _LONG) and (signs or not _SAYS_WHAT.fullmatch(value)):
            yield start, end
