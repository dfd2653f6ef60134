"""A file that was there when the configuration was checked and is gone when it is read: a start that says which, no
traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_eval.server.errors import ServerError
from otel_eval.testing import running

GONE = "gone.pem"


@pytest.mark.parametrize("section", ["exporters", "forward"])
@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_a_file_that_is_gone_is_a_mistake_of_the_start(tmp_path: Path, section: str, protocol: str) -> None:
    """Also where the judging process is started again, hours after the check."""
    gone = tmp_path / GONE
    destination = {"endpoint": "https://127.0.0.1:1", "protocol": protocol, "tls": {"ca_file": str(gone)}}
    with pytest.raises(ServerError, match=f"cannot read .*{GONE}: No such file"):
        async with running({section: {"otlp": destination}}):
            pass
