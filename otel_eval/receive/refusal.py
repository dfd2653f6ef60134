"""Why a request is not taken, before any transport puts it into its own words."""

from __future__ import annotations

import random
from enum import StrEnum


class Code(StrEnum):
    """The reasons for refusing a whole request; the values are label values of ``otel_eval.requests.refused``."""

    MALFORMED = "malformed"
    """Not an OTLP request of the encoding it says. Sending it again does not help."""
    WRONG_SIGNAL = "wrong_signal"
    """A request of another signal: logs at the traces endpoint and the like."""
    TOO_LARGE = "too_large"
    """Larger than the listener's limit, or expands past it."""
    UNSUPPORTED = "unsupported"
    """A content type or content encoding that is not taken."""
    UNAUTHENTICATED = "unauthenticated"
    """No bearer token, or not ours."""
    FULL = "journal_full"
    """The journal is at its limit: come back."""
    OVERLOADED = "overloaded"
    """Too many bytes are in flight: come back."""
    STORAGE = "storage"
    """The journal could not be written, or is closing: come back."""


RETRY_AFTER_S = (1.0, 2.0)
"""Spread, so that senders that were pushed back together do not come back together."""


class Refused(Exception):
    """The request was not taken and nothing of it is kept. ``retry_after_s`` is None where a retry cannot help."""

    def __init__(self, code: Code, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.retry_after_s = retry_after_s


def retryable(code: Code, reason: str) -> Refused:
    """A refusal that asks the sender to come back in one to two seconds."""
    return Refused(code, reason, retry_after_s=random.uniform(*RETRY_AFTER_S))
