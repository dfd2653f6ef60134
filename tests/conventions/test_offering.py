"""A span is offered to the conventions that ask for a key, scope or event of it, however many names have come by."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.conventions import offering
from otel_eval.conventions.facts import Convention
from otel_eval.conventions.offering import Offering
from otel_eval.signals import Scope, SpanEvent
from otel_eval.testing.spans import span

KEYS = Convention(name="keys", read=lambda _: None, prefixes=("vendor.", "v."))
SCOPES = Convention(name="scopes", read=lambda _: None, scopes=("vendor-sdk",))
EVENTS = Convention(name="events", read=lambda _: None, events=("vendor.",))


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"attributes": {"http.route": "/"}}, []),
        ({"attributes": {"http.route": "/", "v.kind": "agent"}}, ["keys"]),
        ({"scope": Scope("vendor-sdk.js"), "attributes": {"vendor.kind": "agent"}}, ["keys", "scopes"]),
        ({"events": (SpanEvent("vendor.message"),)}, ["events"]),
        ({"name": "vendor.chat"}, []),
    ],
)
def test_who_is_asked(fields: dict[str, Any], names: list[str]) -> None:
    """In the order of the list, each once."""
    offered = Offering([KEYS, SCOPES, EVENTS]).of(span(**fields))
    assert [each.name for each in offered] == names


def test_tables_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is full starts anew, and nothing is offered to anybody else for it."""
    monkeypatch.setattr(offering, "REMEMBERED", 3)
    asked = Offering([KEYS])
    many = {f"vendor.{number}" if number % 2 else f"http.{number}": number for number in range(20)}
    offered = [bool(asked.of(span(attributes={key: value}))) for key, value in many.items()]
    assert offered == [number % 2 == 1 for number in range(20)]
