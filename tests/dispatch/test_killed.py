"""What survives kill -9, with a real process and a real file."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from otel_eval.interaction import Interaction
from otel_eval.testing.interactions import interaction
from tests.dispatch.kit import EXACT, JUDGED, Asking, Exact, Pipeline, arrived


def traffic() -> list[Interaction]:
    """The same Interactions in both processes."""
    return [interaction(trace_id=f"{number:032x}", span_id=f"{number:016x}") for number in range(1, 41)]


async def test_after_a_kill_every_evaluation_ends_once(pipeline: Pipeline) -> None:
    """Ten were judged before; the others are judged by the next process, and none of the ten again."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.dispatch.killed_process", pipeline.url,
        stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    output, _ = await process.communicate()
    assert (output, process.returncode) == (b"accepted\n", -signal.SIGKILL)
    evaluator = Asking(pipeline.clock)
    async with pipeline.running({"e": (EXACT, Exact()), "j": (JUDGED, evaluator)}) as dispatcher:
        await dispatcher.accept([arrived(each) for each in traffic()])
        await pipeline.ended(30)
        records = {each.id: pipeline.ledger.ledger.evaluations(each.id) for each in traffic()}
        assert pipeline.ledger.ledger.waiting() == ()
    assert len(evaluator.calls) == 30
    assert all(sorted(record.evaluator for record in ended) == ["e", "j"] for ended in records.values())
