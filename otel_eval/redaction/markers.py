"""What stands where something was redacted, here or before it reached us: one form written, many read.

Ours is *typed*: ``[REDACTED:payment_card]`` says what kind of thing was there, so that a check for leaks still sees a leak
after a collector or an SDK has masked it. Others' are read as they are written by default: a digest in place of a
value, which some write too, cannot be told from one that was there.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator

from otel_eval.redaction.masks import masks, may_mask

PAYMENT_CARD = "payment_card"
EMAIL = "email"
PHONE = "phone"

_ALIASES = {
    PAYMENT_CARD: (
        "card", "card_number", "cc", "credit_card", "credit_card_number", "credit_debit_card_number",
        "credit_debit_number", "creditcard", "debit_card", "pan", "payment_card_number",
    ),
    EMAIL: ("e_mail", "email_address", "mail"),
    PHONE: ("phone_number", "telephone", "telephone_number"),
}  # fmt: skip
_CANONICAL = {alias: kind for kind, aliases in _ALIASES.items() for alias in aliases}

_KIND = r"[a-z][a-z0-9_ -]{0,40}?"
_GONE = r"(?:redacted|masked|scrubbed|sanitized|anonymized|obfuscated)"
_MARKER = re.compile(
    rf"\[ ?{_GONE}(?:[:_ -]+(?P<square>[a-z0-9][a-z0-9_ -]{{0,40}}?))? ?\](?!\()"
    rf"|<{_GONE}(?:[:_ -]+(?P<angle>[a-z0-9][a-z0-9_ -]{{0,40}}?))?>"
    rf"|\[(?P<before>{_KIND})[_ -]redacted\]"
    # The hashes of LangChain's PIIMiddleware.
    rf"|<(?P<hashed>{_KIND})_hash:[0-9a-f]{{8,64}}>"
    r"|__redacted__"
    r"|<elided>"
    r"|\[scrubbed due to [^\]\n]{0,80}\]"
    # Langfuse, where the function that should mask fails.
    r"|<fully masked due to [^>\n]{0,80}>"
    # Sentry and Rails. In lower case it is an adjective, or the text of a link.
    r"|(?-i:\[Filtered\]|\[FILTERED\]|\[HIDDEN\]|<HIDDEN>)(?!\()"
    # Written by hand into a rule of the Collector: in capitals, as prose does not.
    r"|(?-i:(?<![\w:])REDACTED(?![\w:]))"
    rf"|(?<!\*)\*{{3,}}+(?:{_GONE}|(?-i:FILTERED|HIDDEN|REMOVED|SECRET))\*{{3,}}"
    # What Presidio, Google DLP, Bedrock guardrails, Comprehend, Transcribe and Relay put in place of what they found. Names
    # that are placeholders in ordinary prose too (<PASSWORD>, <IP_ADDRESS>, [EMAIL], [NAME]) are left out.
    r"|[<\[{](?P<named>(?-i:CREDIT_CARD|CREDIT_CARD_NUMBER|CREDIT_DEBIT_CARD_NUMBER|CREDIT_DEBIT_NUMBER|EMAIL_ADDRESS"
    r"|PHONE_NUMBER|IBAN_CODE|INTERNATIONAL_BANK_ACCOUNT_NUMBER|US_SSN|US_SOCIAL_SECURITY_NUMBER"
    r"|CREDIT_DEBIT_CVV|CREDIT_DEBIT_EXPIRY|AWS_ACCESS_KEY|AWS_SECRET_KEY|PII|creditcard))[>\]}]",
    re.IGNORECASE,
)
_NAMES = ("square", "angle", "before", "hashed", "named")


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


def may_mark(text: str) -> bool:
    """Cheap and never wrong when it says no: every marker has one of these."""
    return "[" in text or "<" in text or "{" in text or "__" in text or "REDACTED" in text or may_mask(text)


def spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where markers stand in the text, typed or not, ours or another tool's: (start, end) pairs from left to right."""
    if not may_mark(text):
        return ()
    named = [found.span() for found in _MARKER.finditer(text)]
    return tuple(sorted([*named, *_beside(named, masks(text))]))


def is_bare(text: str) -> bool:
    """Whether the text is one marker that says no more than that something was there; blanks around it count for nothing."""
    found = _MARKER.fullmatch(text.strip()) if may_mark(text) else None
    return found is not None and not any(found[name] for name in _NAMES)


def kinds(text: str) -> frozenset[str]:
    """The kinds of the typed markers in the text, in our words for them where another tool's word is known."""
    if not may_mark(text):
        return frozenset()
    found = (marker[name] for marker in _MARKER.finditer(text) for name in _NAMES)
    return frozenset(_canonical(name) for name in found if name is not None)


def _beside(named: list[tuple[int, int]], others: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those of the others that overlap none of the named ones; both from left to right."""
    for start, end in others:
        index = bisect.bisect(named, (start, end))
        if not any(taken < end and past > start for taken, past in named[max(0, index - 1) : index + 1]):
            yield start, end


def _canonical(name: str) -> str:
    word = re.sub(r"[ -]+", "_", name.strip().lower())
    return _CANONICAL.get(word, word)
