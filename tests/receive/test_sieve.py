"""Ordinary spans pass undecoded, and nothing that a convention knows is lost by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otel_eval.assemble.nodes import observe
from otel_eval.conventions.facts import Convention
from otel_eval.conventions.table import CONVENTIONS
from otel_eval.receive.decode import decode_traces, sift_traces
from otel_eval.receive.sieve import Sieve
from otel_eval.signals import OrdinarySpan, Scope, SpanEvent
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.spans import span

TESTS = Path(__file__).parent.parent
RECORDINGS = sorted(TESTS.glob("assemble/recordings/**/*traces*.pb"))


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.parent.name)
def test_sifting_loses_nothing(recording: Path) -> None:
    """Sifted or decoded whole, a recording gives the same nodes."""
    body = recording.read_bytes()
    sifted = sift_traces(body, "protobuf", Sieve(CONVENTIONS))
    assert [observe(span) for span in sifted] == [observe(span) for span in decode_traces(body)]


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"attributes": {"http.route": "/orders", "thread.id": 7}}, False),
        ({"attributes": {"http.route": "/orders", "vendor.kind": "agent"}}, True),
        ({"attributes": {"http.route": "vendor."}}, True),  # looks like a key: read whole, found to be ordinary
        ({"scope": Scope("vendor-sdk.http")}, True),
        ({"scope": Scope("httpx")}, False),
        ({"events": (SpanEvent("vendor.message"),)}, True),
        ({"name": "vendor.chat"}, False),
    ],
)
def test_what_is_kept(fields: dict[str, Any], kept: bool) -> None:
    """Kept is what has a key or a scope that begins as a convention asks for, and whatever has events."""
    vendor = Convention(name="vendor", read=lambda _: None, prefixes=("vendor.",), scopes=("vendor-sdk",))
    (found,) = sift_traces(otlp_request([span(**fields)]), "protobuf", Sieve([vendor]))
    assert isinstance(found, OrdinarySpan) is not kept


def test_no_convention_keeps_nothing() -> None:
    """Without any convention every span is ordinary."""
    (found,) = sift_traces(otlp_request([span(attributes={"gen_ai.system": "x"})]), "protobuf", Sieve([]))
    assert isinstance(found, OrdinarySpan)
