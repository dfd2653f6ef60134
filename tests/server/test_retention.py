"""``storage.retention`` while the server runs."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

import pytest

from otel_eval.journal import Journal
from otel_eval.ledger import AsyncLedger, Batch, Ledger, LedgerUnavailable, StoredInteraction
from otel_eval.server.retention import Retention
from otel_eval.testing import ManualClock, Sink, running
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record
from tests.receive.kit import Counts

HOUR = 3600.0
DAY_NS = 86_400 * 1_000_000_000


async def test_what_grows_old_goes_counted_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """From sweep to sweep, as the clock goes on; the log says what went, and nothing where nothing did."""
    caplog.set_level(logging.INFO, "otel_eval.server")
    clock, counts = ManualClock(), Counts()
    now = clock.now_ns()
    old, young = interaction(started_ns=0, ended_ns=now - DAY_NS), interaction(started_ns=0, ended_ns=now)
    async with (
        await AsyncLedger.open(f"sqlite:///{tmp_path}/ledger.db", outbox=False) as ledger,
        await Journal.open(tmp_path / "journal", clock=clock) as journal,
    ):
        stored = tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in (old, young))
        await ledger.commit(Batch(interactions=stored, records=(evaluation_record(old),)))
        retention = Retention(12 * HOUR, ledger=ledger, journal=journal, clock=clock, recorder=counts)
        await retention.sweep()
        assert {one.id for one in ledger.ledger.interactions()} == {young.id}
        assert counts["otel_eval.retention.deleted", "interaction"] == 1
        assert counts["otel_eval.retention.deleted", "evaluation"] == 1
        assert [record.message for record in caplog.records] == [
            f"older than storage.retention (before {_at(now - 12 * 3600 * 10**9)}) and deleted: 1 Interactions, "
            "1 evaluations, 0 quarantined requests; 0 Interactions stay until they are judged and exported"
        ]
        await retention.sweep()
        assert len(caplog.records) == 1
        clock.advance(13 * HOUR)
        await retention.sweep()
        assert list(ledger.ledger.interactions()) == []


async def test_a_ledger_that_does_not_answer_is_asked_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An outage of the database stops nothing but the sweep."""
    clock = ManualClock()
    async with (
        await AsyncLedger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger,
        await Journal.open(tmp_path / "journal", clock=clock) as journal,
    ):

        async def down(before_ns: int, *, after: object = None) -> None:
            raise LedgerUnavailable("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(ledger, "expire", down)
            sweeping = asyncio.create_task(
                Retention(HOUR, ledger=ledger, journal=journal, clock=clock, recorder=Counts()).run()
            )
            await clock.wait_for_sleepers()
            assert "could not be deleted, it is tried again: the disk is full" in caplog.text
        await ledger.commit(
            Batch(
                interactions=(
                    StoredInteraction(interaction=interaction(started_ns=0, seconds=1), revision=1, digest="d"),
                )
            )
        )
        clock.advance(60)
        async with asyncio.timeout(10):
            while list(ledger.ledger.interactions()):  # noqa: ASYNC110 - it works in a thread of its own
                await asyncio.sleep(0.01)
        sweeping.cancel()
        await asyncio.wait({sweeping})


async def test_a_server_with_a_retention_lets_go_of_what_is_old(tmp_path: Path) -> None:
    """Of what an earlier run left behind, as soon as it starts; by default everything is kept."""
    old = interaction(started_ns=time.time_ns() - 3 * DAY_NS, seconds=1)
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        ledger.commit(Batch(interactions=(StoredInteraction(interaction=old, revision=1, digest="d"),)))
    async with Sink() as sink:
        exporter = {"exporters": {"otlp": {"endpoint": sink.endpoint}}, "emit": {"metrics_interval": "100ms"}}
        async with running({"storage": {"directory": str(tmp_path)}}):
            pass
        with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
            assert ledger.interaction(old.id) == old
        async with running({**exporter, "storage": {"directory": str(tmp_path), "retention": "2d"}}) as server:
            await sink.wait_for(
                lambda sink: sink.counted("otel_eval.retention.deleted", otel_eval__item="interaction") == 1
            )
            assert list(server.server.ledger.ledger.interactions()) == []


def _at(moment_ns: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(moment_ns // 1_000_000_000))
