"""What the receiving process counts adds up until it is taken."""

from __future__ import annotations

import pytest

from otel_eval.server.tally import Tally


def test_counters_add_up_and_gauges_keep_the_newest() -> None:
    """Each set of labels for itself; taken once."""
    tally = Tally()
    for transport in ("grpc", "http", "grpc"):
        tally.record("otel_eval.spans.received", 2, {"otel_eval.transport": transport})
    for size in (10, 5):
        tally.record("otel_eval.journal.bytes", size)
    assert tally.filled.is_set()
    assert sorted(tally.take()) == [
        ("otel_eval.journal.bytes", 5, {}),
        ("otel_eval.spans.received", 2, {"otel_eval.transport": "http"}),
        ("otel_eval.spans.received", 4, {"otel_eval.transport": "grpc"}),
    ]
    assert not tally.filled.is_set()
    assert tally.take() == ()


def test_a_name_that_is_not_declared_is_a_mistake() -> None:
    """As with every recorder."""
    with pytest.raises(KeyError):
        Tally().record("otel_eval.nothing")
