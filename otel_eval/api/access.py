"""Who may call what: bearer tokens with scopes, apart from those of the receivers."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from otel_eval.api.failures import PermissionDenied, Unauthenticated

ANONYMOUS = "(no token)"


class Scope(StrEnum):
    """What a token may be used for. Neither includes the other."""

    READ = "read"
    """Interactions and evaluations: what users and agents said."""
    EVALUATE = "evaluate"
    """Having them judged again, which costs what judges cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A secret and what it is good for."""

    secret: str = field(repr=False)
    scopes: frozenset[Scope]


class Access:
    """``tokens`` by the name that logs say; ``anonymous`` is what those may who show none."""

    def __init__(self, tokens: Mapping[str, Token], *, anonymous: Collection[Scope] = ()) -> None:
        self._tokens = dict(tokens)
        self._anonymous = frozenset(anonymous)

    def admit(self, authorization: str | None, scope: Scope) -> str:
        """The name of whoever calls. Raises Unauthenticated or PermissionDenied.

        A token that is not known is refused also where none is needed: it was meant to be one.
        """
        name, scopes = (ANONYMOUS, self._anonymous) if authorization is None else self._known(authorization)
        if scope in scopes:
            return name
        if authorization is None:
            raise Unauthenticated("a bearer token is asked for")
        raise PermissionDenied(f"this needs a token with the scope {scope}")

    def _known(self, authorization: str) -> tuple[str, frozenset[Scope]]:
        scheme, _, shown = authorization.partition(" ")
        # All of them are compared, so that how long it takes says nothing about which is nearly right.
        found = [
            (name, token.scopes)
            for name, token in self._tokens.items()
            if hmac.compare_digest(shown.strip().encode(), token.secret.encode())
        ]
        if scheme.lower() != "bearer" or not found:
            raise Unauthenticated("this is no bearer token of ours")
        return found[0]
