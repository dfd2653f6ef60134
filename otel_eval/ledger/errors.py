"""What can go wrong with a ledger.

LedgerError
├── LedgerNotFound      there is no ledger at that URL, and none was to be made
├── LedgerFormatError   it was written by a newer otel-eval, or by another program
├── LedgerRefused       the database can never hold it (too large): nothing of the call was stored
└── LedgerUnavailable   the database did not take it (locked, full, gone): nothing of the call was stored
"""

from __future__ import annotations


class LedgerError(Exception):
    """Anything that a ledger raises, KeyError for an unknown id aside."""


class LedgerNotFound(LedgerError):
    """There is no ledger at that URL, and none was to be made."""


class LedgerFormatError(LedgerError):
    """The ledger's format is newer than this otel-eval understands, or another program's; no table was changed."""


class LedgerRefused(LedgerError, ValueError):
    """The database cannot hold what it was given: nothing of the call was stored, and trying again is in vain."""


class LedgerUnavailable(LedgerError):
    """The database did not take it: nothing of the call was stored, and it may be tried again."""
