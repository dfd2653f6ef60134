"""An endpoint that is our own listener."""

from __future__ import annotations

import socket

import pytest

from otel_eval.emit.endpoints import same_listener, shown

LOOPBACK, EVERYWHERE = ("127.0.0.1:4317", "127.0.0.1:4318"), ("0.0.0.0:4317",)
CASES = [
    ("http://127.0.0.1:4317", LOOPBACK, True),
    ("127.0.0.1:4317", LOOPBACK, True),
    ("http://[::ffff:127.0.0.1]:4317", LOOPBACK, True),
    ("http://localhost:4317", LOOPBACK, True),
    ("http://LOCALHOST:4318/v1/traces", LOOPBACK, True),
    ("http://0.0.0.0:4317", LOOPBACK, True),
    ("http://127.0.0.1", LOOPBACK, False),
    ("localhost", LOOPBACK, True),
    ("http://127.0.0.1:14317", LOOPBACK, False),
    ("http://127.0.0.2:4317", LOOPBACK, False),
    ("http://127.0.0.2:4317", EVERYWHERE, True),
    ("http://[::1]:4317", ("[::1]:4317",), True),
    ("http://[::1]:4317", ("[::]:4317",), True),
    ("http://localhost:4317", ("http://0.0.0.0:4317",), True),
    ("http://203.0.113.7:4317", EVERYWHERE, False),
    ("http://collector.invalid:4317", EVERYWHERE, False),
    ("http://collector.invalid:4317", ("collector.invalid:4317",), True),
    ("https://127.0.0.1", ("127.0.0.1:443",), True),
    ("http://127.0.0.1:4317", ("127.0.0.1:0",), False),
    ("http://127.0.0.1:4317", (":4317",), True),
    ("http://127.0.0.1:notaport", LOOPBACK, False),
    ("http://127.0.0.1:4317", (), False),
]


@pytest.mark.parametrize(("endpoint", "listeners", "same"), CASES)
def test_whether_an_endpoint_is_a_listener_of_ours(endpoint, listeners, same):
    """By host and port, in whatever way either is written."""
    assert same_listener(endpoint, listeners) is same


def test_this_machines_own_name_is_us():
    """A listener on all addresses answers at the host's name."""
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        pytest.skip("this machine cannot resolve its own name")
    assert same_listener(f"http://{name}:4317", EVERYWHERE)


@pytest.mark.parametrize(
    ("endpoint", "told"),
    [
        ("http://collector:4318/v1", "http://collector:4318/v1"),
        ("https://ann:s3cr3t@collector:4318/v1?a@b", "https://***@collector:4318/v1?a@b"),
        ("ann:s3@cr3t@collector:4317", "***@collector:4317"),
        ("http://token@[::1]:4318", "http://***@[::1]:4318"),
        ("http://collector/a@b", "http://collector/a@b"),
    ],
)
def test_no_password_of_an_endpoint_is_shown(endpoint: str, told: str) -> None:
    """Some backends take the key as the user of the URL."""
    assert shown(endpoint) == told
