"""Settings of a listener."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otel_eval.receive.listener import Listener, ReceiverError, endpoint
from otel_eval.receive.refusal import Refused


@pytest.mark.parametrize(
    ("written", "address"),
    [("127.0.0.1:4317", ("127.0.0.1", 4317)), ("localhost:0", ("localhost", 0)), ("[::1]:4318", ("::1", 4318))],
)
def test_endpoints_are_host_and_port(written: str, address: tuple[str, int]) -> None:
    """IPv6 in brackets; port 0 is any free one; writing it again gives the same."""
    assert Listener(endpoint=written).address() == address
    assert endpoint(*address) == written


@pytest.mark.parametrize(
    "written", ["", "4317", ":4317", "localhost", "localhost:", "localhost:http", "a:70000", "::1:4317"]
)
def test_other_endpoints_are_refused(written: str) -> None:
    """The error shows what was written and what is expected."""
    with pytest.raises(ReceiverError, match="host:port"):
        Listener(endpoint=written)


@pytest.mark.parametrize(
    "settings",
    [{"certificate": Path("c.pem")}, {"key": Path("k.pem")}, {"client_ca": Path("ca.pem")}, {"token": " "}],
)
def test_settings_that_would_not_protect_are_refused(settings: dict[str, Any]) -> None:
    """Half a key pair, a client CA without TLS, an empty token."""
    with pytest.raises(ReceiverError, match=r"a:1: .*(TLS|token)"):
        Listener(endpoint="a:1", **settings)


def test_the_token_is_in_no_repr() -> None:
    """A listener may be logged."""
    assert "s3cret" not in repr(Listener(endpoint="a:1", token="s3cret"))


@pytest.mark.parametrize("shown", [None, "", "s3cret", "Basic s3cret", "Bearer ", "Bearer s3cre", "Bearer s3crét"])
def test_only_the_token_is_let_in(shown: str | None) -> None:
    """Anything else is refused, without naming the token."""
    listener = Listener(endpoint="a:1", token="s3cret")
    listener.admit("bearer s3cret")
    with pytest.raises(Refused) as refused:
        listener.admit(shown)
    assert "s3cret" not in refused.value.reason
