"""What stands where something was redacted, here or before it reached us: one form written, many read.

Ours is *typed*: ``[REDACTED:payment_card]`` says what kind of thing was there, so that a check for leaks still sees a leak
after a collector or an SDK has masked it. Nothing here imports anything of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

PAYMENT_CARD = "payment_card"
EMAIL = "email"
PHONE = "phone"

_ALIASES = {
    PAYMENT_CARD: (
        "card", "card_number", "cc", "credit_card", "credit_card_number", "credit_debit_card_number",
        "creditcard", "debit_card", "pan", "payment_card_number",
    ),
    EMAIL: ("e_mail", "email_address", "mail"),
    PHONE: ("phone_number", "telephone", "telephone_number"),
}  # fmt: skip
_CANONICAL = {alias: kind for kind, aliases in _ALIASES.items() for alias in aliases}

_MARKER = re.compile(
    r"\[ ?redacted(?:[:_ -]+(?P<square>[a-z0-9][a-z0-9_ -]{0,40}?))? ?\]"
    r"|<redacted(?:[:_ -]+(?P<angle>[a-z0-9][a-z0-9_ -]{0,40}?))?>"
    r"|__redacted__"
    r"|<elided>"
    r"|\[scrubbed due to [^\]\n]{0,80}\]"
    # What Presidio, Google DLP and Bedrock guardrails put in place of what they found. Names that are placeholders in
    # ordinary prose too (<PASSWORD>, <IP_ADDRESS>, [EMAIL]) are left out.
    r"|[<\[{](?P<named>(?-i:CREDIT_CARD|CREDIT_CARD_NUMBER|CREDIT_DEBIT_CARD_NUMBER|EMAIL_ADDRESS|PHONE_NUMBER"
    r"|IBAN_CODE|US_SSN|US_SOCIAL_SECURITY_NUMBER))[>\]}]",
    re.IGNORECASE,
)


def marker(kind: str) -> str:
    """What to write in place of something of that kind (lower case, ``_`` between words): ``[REDACTED:payment_card]``."""
    return f"[REDACTED:{kind}]"


def marked(text: str, found: Iterable[tuple[int, int, str]]) -> str:
    """The text with markers in place of these spans (start, end, kind), which are in order."""
    parts, position = [], 0
    for start, end, kind in found:
        parts += [text[position:start], marker(kind)]
        position = end
    return "".join([*parts, text[position:]]) if parts else text


def spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where markers stand in the text, typed or not, ours or another tool's: (start, end) pairs from left to right."""
    return tuple(found.span() for found in _MARKER.finditer(text))


def kinds(text: str) -> frozenset[str]:
    """The kinds of the typed markers in the text, in our words for them where another tool's word is known."""
    named = (found["square"] or found["angle"] or found["named"] for found in _MARKER.finditer(text))
    return frozenset(_canonical(name) for name in named if name is not None)


def _canonical(name: str) -> str:
    word = re.sub(r"[ -]+", "_", name.strip().lower())
    return _CANONICAL.get(word, word)
