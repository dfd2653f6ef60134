"""The API of `serve`, in two processes: it goes away with the judging process and comes back where it was; and `rerun`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from pathlib import Path

import grpc
import pytest

from otel_eval.api.client import ApiCallError, ApiClient
from otel_eval.api.following import verdicts
from otel_eval.v1 import evaluations_pb2 as pb
from tests.api.kit import BOTH, EXPORT, READ, TOKENS, start, watched
from tests.server.process import ServeProcess, serving
from tests.server.test_crash import ended, write_config
from tests.server.test_two_processes import whole

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

API = {"enabled": True, "endpoint": "127.0.0.1:0", "auth": {"tokens": TOKENS}}


def address(server: ServeProcess) -> str:
    found = re.search(r"api (\S+)", server.ready)
    assert found is not None, server.ready
    return found[1]


async def judged(server: ServeProcess, directory: Path) -> str:
    body, interaction = whole()
    async with grpc.aio.insecure_channel(server.grpc) as channel:
        await channel.unary_unary(EXPORT)(body)
    await ended(directory / "data" / "ledger.db", {interaction}, evaluators=2)
    return interaction


async def test_the_api_comes_back_where_it_was(tmp_path: Path) -> None:
    """kill -9 of the judging process: callers are told UNAVAILABLE, then served at the same port, and miss nothing."""
    async with serving(write_config(tmp_path, api=API)) as server, ApiClient(address(server), token=BOTH) as api:
        interaction = await judged(server, tmp_path)
        started = await start(api, interaction, "does-not-fail")
        async with asyncio.timeout(30):
            assert [record.attempt async for record in verdicts(api, started)] == [1]
        stream = api.watch_evaluations(pb.WatchEvaluationsRequest())
        cursor = (await anext(stream)).cursor
        killed = server.judging
        os.kill(killed, signal.SIGKILL)
        with pytest.raises(ApiCallError) as caught:
            async for _ in stream:
                pass
        assert caught.value.passes
        with pytest.raises(ApiCallError) as caught:
            await api.get_interaction(pb.GetInteractionRequest(interaction_id=interaction))
        assert caught.value.code == "UNAVAILABLE"
        again = await judged(server, tmp_path)  # taken in while nobody judges
        async with asyncio.timeout(60):
            while True:
                with contextlib.suppress(ApiCallError):
                    await api.get_interaction(pb.GetInteractionRequest(interaction_id=interaction))
                    break
                await asyncio.sleep(0.05)
        following = api.watch_evaluations(pb.WatchEvaluationsRequest(cursor=cursor))
        assert {each.evaluation.interaction_id for each in await watched(following, 2)} == {again}
        assert await server.terminate() == 0


async def command(*arguments: str, **environ: str) -> tuple[int, str, str]:
    """`otel-eval rerun` with these: its status, and what it printed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "otel_eval", "rerun", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environ},
    )
    out, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


async def test_rerun_from_the_command_line(tmp_path: Path) -> None:
    """With --wait the records, and an exit status that says how it went; a token that may not is told, and secrets
    do not show."""
    config = write_config(tmp_path, api=API, server={"processes": 1})
    async with serving(config, errors=True) as server:
        interaction = await judged(server, tmp_path)
        to = ("--api", address(server), "--format", "jsonl")
        both = ("--evaluator", "does-not-fail", "--evaluator", "looks-up", "--agent", "support-agent", "--wait")
        passing = ("--evaluator", "does-not-fail", "--interaction", interaction)
        (status, out, errors), refused = await asyncio.gather(
            command(*to, *both, "--token-env", "MINE", MINE=BOTH), command(*to, *passing, OTEL_EVAL_API_TOKEN=READ)
        )
        records = [json.loads(line) for line in out.splitlines()]
        assert (status, errors) == (0, "otel-eval: 2 evaluations queued\n")
        assert {
            (record["evaluator"], record["outcome"], record["origin"], record["attempt"]) for record in records
        } == {
            ("does-not-fail", "passed", "rerun", 1),
            ("looks-up", "passed", "rerun", 1),
        }
        said = f"otel-eval: the API at {address(server)}: this needs a token with the scope evaluate\n"
        assert refused == (2, "", said)
        assert await server.terminate() == 0
        said = await server.errors()
    assert not any(token["token"] in said for token in TOKENS.values()), said
