"""Ledgers to test with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_eval.ledger import Ledger


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where a ledger may be made."""
    return f"sqlite:///{tmp_path}/data/ledger.db"


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """An empty ledger in a file."""
    with Ledger.open(url) as opened:
        yield opened
