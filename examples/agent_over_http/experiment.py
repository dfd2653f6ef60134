"""An agent in another process: spoken to over HTTP, judged by the OTLP that it exports to the experiment."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from otel_eval import EvalCase, Experiment, current_attempt, reply_should_contain, should_call_tool_with
from otel_eval.experiment import OverOtlp

AGENT = Path(__file__).with_name("agent_server.py")


def free_address() -> str:
    """Where the experiment will listen. An agent that is deployed somewhere exports to a fixed address instead."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@contextmanager
def running_agent(otlp: str) -> Iterator[str]:
    """The agent's program, told to export to the experiment, and without the SDK's usual delay of 5 s."""
    environ = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{otlp}", "OTEL_BSP_SCHEDULE_DELAY": "50"}
    with subprocess.Popen([sys.executable, AGENT], env=environ, stdout=subprocess.PIPE, text=True) as agent:
        try:
            assert agent.stdout is not None
            yield f"http://127.0.0.1:{int(agent.stdout.readline())}/chat"
        finally:
            agent.terminate()


def main() -> int:
    otlp = free_address()
    with running_agent(otlp) as url:

        def ask(command: str) -> str:
            headers = current_attempt().headers()
            return httpx.post(url, content=command, headers=headers).raise_for_status().text

        report = Experiment(
            name="orders",
            cases=[
                EvalCase("status", "Where is order o_9?", reply_should_contain("delivered")),
                EvalCase("again", "And now?", reply_should_contain("delivered")),
            ],
            agent=ask,
            evaluators=[should_call_tool_with("getOrder", "orderId", "o_9")],
            concurrency=2,
            telemetry=OverOtlp(http=otlp),
        ).run()
    print(report.render())
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
