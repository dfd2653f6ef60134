"""What is put together without its agent's span: stored as incomplete, unless it is left over of a trace closed long ago."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from otel_eval.assemble.completion import Ready
from otel_eval.ledger import LedgerUnavailable
from otel_eval.pipeline.pipeline import EXPIRE_EVERY_S
from otel_eval.signals import Span
from otel_eval.testing.clock import ManualClock
from otel_eval.testing.spans import conversation, span
from tests.pipeline.kit import pipeline, settled, store


class Ledger:
    """Keeps what it is given by trace. ``down``: so many questions find it not available."""

    def __init__(self) -> None:
        self.told: dict[str, dict[str, str]] = {}
        self.down = 0

    async def accept(self, completed: Iterable[Ready], aliases: Any = None) -> None:
        for each in completed:
            self.told.setdefault(each.interaction.trace_id, {})[each.interaction.id] = each.digest

    async def told_of(self, trace_ids: Collection[str]) -> dict[str, dict[str, str]]:
        if self.down:
            self.down -= 1
            raise LedgerUnavailable("it is started again")
        return {trace_id: dict(self.told[trace_id]) for trace_id in trace_ids if trace_id in self.told}


def id_of(agent: Span) -> str:
    return f"{agent.trace_id}-{agent.span_id}"


async def test_pieces_beside_another_agent_of_their_trace_are_stored(tmp_path: Path) -> None:
    """That one was told minutes before; its trace was open all the time, for them."""
    ledger, clock = Ledger(), ManualClock()
    session = span("session", seconds=60)
    agent = conversation(parent=session)
    crashed, *pieces = conversation(agent="crashed", parent=session, started_ns=agent[0].ended_ns + 1)
    async with pipeline(tmp_path, ledger, clock) as journal:
        await store(journal, [session, *agent, *pieces])
        await settled(journal, clock)
    assert ledger.told[session.trace_id].keys() == {id_of(agent[0]), id_of(crashed)}


async def test_pieces_of_a_trace_that_was_closed_long_ago_start_nothing(tmp_path: Path) -> None:
    """Their agent was told, and what came with it is kept no more."""
    ledger, clock = Ledger(), ManualClock()
    session = span("session", seconds=60)
    agent = conversation(parent=session)
    _, *pieces = conversation(agent="crashed", parent=session, started_ns=agent[0].ended_ns + 1)
    async with pipeline(tmp_path, ledger, clock) as journal:
        await store(journal, [session, *agent])
        await settled(journal, clock)
        async with asyncio.timeout(10):
            while await journal.kept(session.trace_id) is not None:
                await clock.run_for(EXPIRE_EVERY_S)
        await store(journal, pieces)
        await settled(journal, clock)
    assert ledger.told[session.trace_id].keys() == {id_of(agent[0])}


async def test_a_ledger_that_is_down_is_asked_again_about_pieces(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An outage of the database does not stop the pipeline, whatever it is used for at that moment."""
    ledger, clock = Ledger(), ManualClock()
    crashed, *pieces = conversation()
    async with pipeline(tmp_path, ledger, clock) as journal:
        await store(journal, pieces)
        ledger.down = 30
        await settled(journal, clock)
    assert ledger.told[crashed.trace_id].keys() == {id_of(crashed)}
    assert caplog.text.count("the ledger cannot be used, it is tried again until it can") == 1
