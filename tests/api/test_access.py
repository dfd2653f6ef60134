"""Who may call what."""

from __future__ import annotations

import pytest

from otel_eval.api.access import ANONYMOUS, Access, Scope, Token
from otel_eval.api.failures import PermissionDenied, Unauthenticated

TOKENS = {
    "reader": Token(secret="r" * 16, scopes=frozenset({Scope.READ})),
    "starter": Token(secret="s" * 16, scopes=frozenset({Scope.EVALUATE})),
}
BOTH = (Scope.READ, Scope.EVALUATE)


@pytest.mark.parametrize(
    ("shown", "scope", "expected"),
    [
        (f"Bearer {'r' * 16}", Scope.READ, "reader"),
        (f"bearer  {'s' * 16} ", Scope.EVALUATE, "starter"),
        (f"Bearer {'r' * 16}", Scope.EVALUATE, PermissionDenied),
        (f"Bearer {'s' * 16}", Scope.READ, PermissionDenied),
        (f"Basic {'r' * 16}", Scope.READ, Unauthenticated),
        ("r" * 16, Scope.READ, Unauthenticated),
        (f"Bearer {'r' * 15}é", Scope.READ, Unauthenticated),
        ("Bearer ", Scope.READ, Unauthenticated),
        ("", Scope.READ, Unauthenticated),
        (None, Scope.READ, Unauthenticated),
    ],
)
def test_a_token_is_good_for_its_scopes(shown: str | None, scope: Scope, expected: str | type[Exception]) -> None:
    """Neither scope includes the other, and whoever is not known is told nothing else."""
    access = Access(TOKENS)
    if isinstance(expected, str):
        assert access.admit(shown, scope) == expected
    else:
        with pytest.raises(expected):
            access.admit(shown, scope)


def test_without_a_token_where_that_is_allowed() -> None:
    """As far as it is; a token that is not known is a mistake all the same."""
    access = Access(TOKENS, anonymous=[Scope.READ])
    assert access.admit(None, Scope.READ) == ANONYMOUS
    with pytest.raises(Unauthenticated):
        access.admit(None, Scope.EVALUATE)
    with pytest.raises(Unauthenticated):
        access.admit("Bearer nonsense", Scope.READ)


def test_secrets_do_not_show() -> None:
    """Not in what a log might say of them."""
    assert "r" * 16 not in repr(TOKENS)
