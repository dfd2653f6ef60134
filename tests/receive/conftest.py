"""A receiver on loopback before a real journal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.receive.kit import Start, Taking


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    async with AsyncExitStack() as stack:
        yield Start(tmp_path / "data", stack)


@pytest.fixture
async def taking(start: Start) -> Taking:
    return await start()
