"""The corpus, unpacked once for a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.recordings import unpack


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all captures."""
    return unpack(tmp_path_factory.mktemp("recordings"))
