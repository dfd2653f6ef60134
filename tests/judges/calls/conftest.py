"""litellm's whole path, against a scripted provider on loopback: the folder that imports litellm (some seconds)."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

import pytest

from otel_eval.judges import (
    JudgeModelSettings,
)
from otel_eval.judges.litellm_client import LitellmModel
from otel_eval.judges.litellm_import import load
from otel_eval.testing.scripted_model import ScriptedModel


@pytest.fixture(scope="session", autouse=True)
def reached() -> list[str]:
    """litellm imported, once, so that no test pays for it within its own timeouts; the network calls that this made."""
    calls: list[str] = []
    importing = True

    def audit(event: str, arguments: object) -> None:
        if importing and event in ("socket.connect", "socket.getaddrinfo"):
            calls.append(event)

    sys.addaudithook(audit)
    load()
    importing = False
    return calls


@pytest.fixture
async def provider() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel(0.9) as served:
        yield served
        await LitellmModel(JudgeModelSettings(model="openai/scripted")).aclose()
