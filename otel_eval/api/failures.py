"""How a call fails, before gRPC puts it into its own words.

::

    CallFailed
      ├─ InvalidArgument     a field is wrong; says which
      ├─ NotFound            what was named is not in the ledger
      ├─ Unauthenticated     no token was shown, or none that is known
      ├─ PermissionDenied    the token does not have the scope
      ├─ WrongLedger         a cursor of another ledger
      ├─ TooMuch             more than is done at once
      └─ Unavailable         try again
"""

from __future__ import annotations


class CallFailed(Exception):
    """The message is for whoever calls: nothing secret, and nothing of what agents said."""


class InvalidArgument(CallFailed):
    """``field`` is its path in the request, as ``filter.since``."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.description = message


class NotFound(CallFailed):
    """What was named is not in the ledger."""


class Unauthenticated(CallFailed):
    """Nobody whom we know."""


class PermissionDenied(CallFailed):
    """Somebody whom we know, and who may not."""


class WrongLedger(CallFailed):
    """A cursor says nothing about this ledger."""


class TooMuch(CallFailed):
    """More than is done at once, or is running already."""


class Unavailable(CallFailed):
    """Not at the moment."""
