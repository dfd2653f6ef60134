"""The end-to-end tests run only when asked for by path (``make e2e``): they need real parts that `make tools` builds."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave this folder out unless an argument names it."""
    named = (config.invocation_params.dir / arg.split("::")[0] for arg in config.args)
    if any(path.resolve() == HERE or HERE in path.resolve().parents for path in named):
        return None
    return True
