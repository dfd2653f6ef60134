"""A real endpoint, a real ledger, and verdicts to send."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from otel_eval.ledger import AsyncLedger
from otel_eval.loop_guard import LoopGuard
from otel_eval.testing.sink import Sink


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No ``OTEL_*`` variable of the machine reaches a test."""
    import os

    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A capturing OTLP endpoint."""
    with Sink() as started:
        yield started


@pytest.fixture
async def ledger(tmp_path) -> AsyncIterator[AsyncLedger]:
    """An empty ledger."""
    async with await AsyncLedger.open(f"sqlite:///{tmp_path}/ledger.db") as opened:
        yield opened


@pytest.fixture
def guard() -> LoopGuard:
    """The key that the ids are made with."""
    return LoopGuard(b"k" * 32)
