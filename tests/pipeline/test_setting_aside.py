"""An Interaction that cannot be made, or cannot be stored, for a fault of ours costs itself, never those behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from otel_eval.assemble.completion import Completion, Ready
from otel_eval.assemble.nodes import observe
from otel_eval.ledger import LedgerUnavailable
from otel_eval.testing.clock import ManualClock
from otel_eval.testing.spans import agent_span, conversation
from tests.pipeline.kit import pipeline, settled, store


class Unprintable:
    """Nothing that a decoder gives; stands for the value that nobody thought of."""

    def __repr__(self) -> str:
        raise RuntimeError("the secret of the agent")


class Ledger:
    """Takes Interactions, but for those of one agent, which it cannot write."""

    def __init__(self, *, unavailable: int = 0) -> None:
        self.agents: list[str | None] = []
        self.unavailable = unavailable
        self._took = asyncio.Condition()

    async def accept(self, completed: Iterable[Ready], aliases: Any = None) -> None:
        batch = list(completed)
        if self.unavailable:
            self.unavailable -= 1
            raise LedgerUnavailable("locked")
        if any(each.interaction.agent == "odd" for each in batch):
            raise OverflowError("the secret of the agent")
        async with self._took:
            self.agents += [each.interaction.agent for each in batch]
            self._took.notify_all()

    async def told_of(self, trace_ids: Collection[str]) -> dict[str, dict[str, str]]:
        return {}

    async def took(self, count: int) -> None:
        async with asyncio.timeout(10), self._took:
            await self._took.wait_for(lambda: len(self.agents) >= count)


async def test_an_interaction_that_cannot_be_stored_goes_to_quarantine(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Those that were complete with it are stored, its request is kept with the reason, the journal lets go of it."""
    ledger, clock = Ledger(unavailable=1), ManualClock()
    async with pipeline(tmp_path, ledger, clock) as journal:
        for agent in ("first", "odd", "second"):
            await store(journal, conversation(agent=agent))
        await settled(journal, clock)
        await ledger.took(2)
    assert ledger.agents == ["first", "second"]
    (reason,) = (tmp_path / "quarantine").glob("*.reason")
    assert "OverflowError" in reason.read_text()
    assert "secret" not in reason.read_text() + caplog.text


async def test_a_ledger_that_is_down_is_told_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An outage of an hour is one line, not one for each second; what was complete is stored after it."""
    ledger, clock = Ledger(unavailable=30), ManualClock()
    async with pipeline(tmp_path, ledger, clock) as journal:
        await store(journal, conversation(agent="first"))
        await settled(journal, clock)
    assert ledger.agents == ["first"]
    assert caplog.text.count("the ledger cannot be used") == 1


def test_a_trace_that_cannot_be_put_together_is_given_up() -> None:
    """It is told as broken and closed; what else is due is not lost, and nothing of it stays in memory."""
    completion = Completion()
    odd = agent_span(agent="odd", attributes={"gen_ai.tool.definitions": "[]"})
    node = observe(odd)
    assert node.facts is not None
    object.__setattr__(node.facts, "agent", Unprintable())
    sound = agent_span(agent="sound")
    completion.add([node, observe(sound)], [], now=0)
    due = completion.due(1000)
    assert [each.interaction.agent for each in due.ready] == ["sound"]
    (broken,) = due.broken
    assert broken.trace_ids == {odd.trace_id}
    assert {each.trace_id for each in due.closed} == {odd.trace_id, sound.trace_id}
    assert completion.open_traces == 0
    assert completion.next_deadline() is None
