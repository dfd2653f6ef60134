"""A span is offered to the conventions that ask for a key, scope or event of it, however many names have come by."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest
from opentelemetry.semconv import attributes as stable
from opentelemetry.semconv._incubating import attributes as incubating

from otel_eval.conventions import offering
from otel_eval.conventions.facts import Convention
from otel_eval.conventions.offering import Offering
from otel_eval.conventions.table import CONVENTIONS
from otel_eval.signals import Scope, SpanEvent
from otel_eval.testing.spans import span

KEYS = Convention(name="keys", read=lambda _: None, prefixes=("vendor.", "v."))
SCOPES = Convention(name="scopes", read=lambda _: None, scopes=("vendor-sdk",))
EVENTS = Convention(name="events", read=lambda _: None, events=("vendor.",))
NAMES = Convention(name="names", read=lambda _: None, names=("chat ",))
NEEDS = Convention(name="needs", read=lambda _: None, prefixes=("v.",), scopes=("vendor-py",), needs=("module",))


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"attributes": {"http.route": "/"}}, []),
        ({"attributes": {"http.route": "/", "v.kind": "agent"}}, ["keys"]),
        ({"scope": Scope("vendor-sdk.js"), "attributes": {"vendor.kind": "agent"}}, ["keys", "scopes"]),
        ({"events": (SpanEvent("vendor.message"),)}, ["events"]),
        ({"name": "vendor.chat"}, []),
        ({"name": "chat with vendor."}, ["names"]),
        ({"attributes": {"module": "vendor", "vendor": 1}}, []),
        ({"attributes": {"v.kind": "agent", "module": "vendor"}}, ["keys", "needs"]),
        ({"attributes": {"module.name": "vendor", "v.kind": "agent"}}, ["keys", "needs"]),
        ({"scope": Scope("vendor-py"), "attributes": {"v.kind": "agent"}}, ["keys", "needs"]),
        ({"scope": Scope("vendor-py")}, ["needs"]),
    ],
)
def test_who_is_asked(fields: dict[str, Any], names: list[str]) -> None:
    """In the order of the list, each once."""
    offered = Offering([KEYS, SCOPES, EVENTS, NAMES, NEEDS]).of(span(**fields))
    assert [each.name for each in offered] == names


def test_tables_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is full starts anew, and nothing is offered to anybody else for it."""
    monkeypatch.setattr(offering, "REMEMBERED", 3)
    asked = Offering([KEYS])
    many = {f"vendor.{number}" if number % 2 else f"http.{number}": number for number in range(20)}
    offered = [bool(asked.of(span(attributes={key: value}))) for key, value in many.items()]
    assert offered == [number % 2 == 1 for number in range(20)]


def test_no_convention_asks_for_what_ordinary_spans_have() -> None:
    """Every span with such a key would be decoded, for nothing: five times the cost of letting it pass."""
    keys = {
        value
        for package in (stable, incubating)
        for module in pkgutil.iter_modules(package.__path__)
        if module.name.partition("_")[0] not in ("gen", "mcp", "openai")
        for name, value in vars(importlib.import_module(f"{package.__name__}.{module.name}")).items()
        if name.isupper() and isinstance(value, str)
    }
    assert {"http.route", "db.statement", "code.namespace", "thread.name", "rpc.method"} <= keys
    assert {(key, each.name) for each in CONVENTIONS for key in keys if key.startswith(each.prefixes)} == set()
