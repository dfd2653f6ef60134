"""Following the ledger through the API: nothing is missed, and nothing comes twice, whatever happens between two calls."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path

import pytest

from otel_eval.api import watching
from otel_eval.api.client import ApiCallError
from otel_eval.ledger import Ledger
from otel_eval.outcome import Failed
from otel_eval.record import Origin
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record
from otel_eval.testing.server import running
from otel_eval.v1 import evaluations_pb2 as pb
from tests.api.kit import config, judged, operator, serving, watched


async def test_verdicts_come_as_they_are_stored() -> None:
    """From now on, each once, with a cursor of its own; the first message says where that began."""
    async with serving() as (server, api):
        before = await judged(server)
        stream = api.watch_evaluations(pb.WatchEvaluationsRequest())
        first = await anext(stream)
        assert first.cursor
        assert not first.HasField("evaluation")
        name = await judged(server)
        got = await watched(stream, 2)
        assert {each.evaluation.interaction_id for each in got} == {name} != {before}
        assert {each.evaluation.evaluator for each in got} == {"no-failure", "says-no"}
        assert len({first.cursor, *(each.cursor for each in got)}) == 3


async def test_only_what_is_asked_for() -> None:
    """By evaluator and origin; judges' calls where they are wanted."""
    async with serving() as (server, api):
        request = pb.WatchEvaluationsRequest(
            filter=pb.EvaluationFilter(evaluator="x", origin=pb.ORIGIN_OFFLINE), include_judge_calls=True
        )
        stream = api.watch_evaluations(request)
        await anext(stream)
        one = interaction()
        for evaluator, origin in (("y", Origin.OFFLINE), ("x", Origin.LIVE), ("x", Origin.OFFLINE)):
            record = evaluation_record(one, evaluator, origin=origin, attempt=1 if origin is Origin.OFFLINE else 0)
            await server.server.ledger.finish([record])
        (got,) = await watched(stream, 1)
        assert (got.evaluation.evaluator, got.evaluation.origin) == ("x", pb.ORIGIN_OFFLINE)


async def test_a_restart_is_bridged_by_the_cursor(tmp_path: Path) -> None:
    """The server's stop ends the call as one to come back from; what was stored in between comes, what was seen does not."""
    settings = config(storage={"directory": str(tmp_path)})
    async with contextlib.AsyncExitStack() as stack:
        async with running(settings) as server:
            api = await stack.enter_async_context(operator(server))
            stream = api.watch_evaluations(pb.WatchEvaluationsRequest())
            await anext(stream)
            name = await judged(server)
            seen = await watched(stream, 2)
            assert {each.evaluation.interaction_id for each in seen} == {name}
            cursor = seen[0].cursor  # the second one was got, and not dealt with
            ending = asyncio.ensure_future(anext(stream))
        with pytest.raises(ApiCallError, match="come back") as caught:
            await ending
        assert caught.value.passes
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        ledger.finish([evaluation_record(interaction(), "meanwhile", Failed(explanation="no"))])
    async with serving(settings) as (server, api):
        stream = api.watch_evaluations(pb.WatchEvaluationsRequest(cursor=cursor))
        again = await watched(stream, 2)
        assert [each.evaluation.evaluator for each in again] == [seen[1].evaluation.evaluator, "meanwhile"]
        name = await judged(server)
        assert {each.evaluation.interaction_id for each in await watched(stream, 2)} == {name}


async def test_listing_and_then_watching_misses_nothing() -> None:
    """The first page's cursor is from before it was read."""
    async with serving() as (server, api):
        listed = await api.list_evaluations(pb.ListEvaluationsRequest())
        name = await judged(server)
        stream = api.watch_evaluations(pb.WatchEvaluationsRequest(cursor=listed.cursor))
        assert {each.evaluation.interaction_id for each in await watched(stream, 2)} == {name}


async def test_what_others_store_is_seen_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An experiment writes to the same ledger: nobody tells the server, which looks."""
    monkeypatch.setattr(watching, "LOOK_EVERY_S", 0.05)
    async with serving(config(storage={"directory": str(tmp_path)})) as (_, api):
        stream = api.watch_evaluations(pb.WatchEvaluationsRequest())
        await anext(stream)
        with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
            ledger.finish([evaluation_record(interaction(), "others")])
        assert [each.evaluation.evaluator for each in await watched(stream, 1)] == ["others"]


async def test_a_quiet_call_gives_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cursors alone, which move on with what the filter left out."""
    monkeypatch.setattr(watching, "SIGN_EVERY_S", 0.1)
    async with serving() as (server, api):
        request = pb.WatchEvaluationsRequest(filter=pb.EvaluationFilter(agent="nobody"))
        stream = api.watch_evaluations(request)
        first = await anext(stream)
        await judged(server)
        async with asyncio.timeout(30):
            while (sign := await anext(stream)).cursor == first.cursor:
                pass
        assert not sign.HasField("evaluation")


async def test_a_cursor_of_another_ledger_is_told(tmp_path: Path) -> None:
    """Of another one, of a backup that is older, and what was never one."""
    async with serving() as (server, api):
        await judged(server)
        cursor = (await api.list_evaluations(pb.ListEvaluationsRequest())).cursor
        wrong = {
            "x": "INVALID_ARGUMENT",
            "WzEsMl0": "INVALID_ARGUMENT",
            await another(): "FAILED_PRECONDITION",
        }
        for given, code in wrong.items():
            with pytest.raises(ApiCallError) as caught:
                await anext(api.watch_evaluations(pb.WatchEvaluationsRequest(cursor=given)))
            assert caught.value.code == code
        server.server.ledger.ledger.write(lambda connection: connection.exec_driver_sql("UPDATE storing SET last = 0"))
        with pytest.raises(ApiCallError) as caught:
            await anext(api.watch_evaluations(pb.WatchEvaluationsRequest(cursor=cursor)))
        assert caught.value.code == "FAILED_PRECONDITION"


async def test_a_cursor_from_after_the_backup_is_told(tmp_path: Path) -> None:
    """A restored ledger that has come as far again has other records there: whoever went on would miss them silently."""
    settings = config(storage={"directory": str(tmp_path)})
    file = tmp_path / "ledger.db"
    async with serving(settings) as (server, api):
        await judged(server)
        kept = (await api.list_evaluations(pb.ListEvaluationsRequest())).cursor
        await server.server.ledger.vacate()
        shutil.copy(file, tmp_path / "backup.db")
        await judged(server)
        lost = (await api.list_evaluations(pb.ListEvaluationsRequest())).cursor
    shutil.copy(tmp_path / "backup.db", file)
    async with serving(settings) as (server, api):
        new = [await judged(server) for _ in range(2)]
        with pytest.raises(ApiCallError, match="list again") as caught:
            await anext(api.watch_evaluations(pb.WatchEvaluationsRequest(cursor=lost)))
        assert caught.value.code == "FAILED_PRECONDITION"
        stream = api.watch_evaluations(pb.WatchEvaluationsRequest(cursor=kept))
        assert {each.evaluation.interaction_id for each in await watched(stream, 4)} == set(new)


async def test_a_call_goes_on_where_another_writer_comes(tmp_path: Path) -> None:
    """He gives the ledger another identity, under which the call's next cursors are; all of them are good."""
    async with serving(config(storage={"directory": str(tmp_path)})) as (server, api):
        stream = api.watch_evaluations(pb.WatchEvaluationsRequest())
        cursors = [(await anext(stream)).cursor]
        with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
            ledger.finish([evaluation_record(interaction(), "others")])
        name = await judged(server)
        got = await watched(stream, 3)
        for cursor in (*cursors, got[0].cursor):
            again = api.watch_evaluations(pb.WatchEvaluationsRequest(cursor=cursor))
            assert {each.evaluation.interaction_id for each in await watched(again, 2)} >= {name}


async def another() -> str:
    """A cursor of a ledger that is not the test's."""
    async with running(config()) as server, operator(server) as api:
        return (await api.list_evaluations(pb.ListEvaluationsRequest())).cursor
