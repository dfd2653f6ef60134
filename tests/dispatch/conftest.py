"""The fixture of the dispatcher's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dispatch.kit import Pipeline


@pytest.fixture
async def pipeline(tmp_path: Path) -> Pipeline:
    return Pipeline(f"sqlite:///{tmp_path}/ledger.db")
