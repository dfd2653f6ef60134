"""An agent in another process: spoken to over HTTP, judged by the OTLP that it exports to the experiment."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import httpx

from otel_eval import EvalCase, Experiment, OverOtlp, current_attempt, reply_should_contain, should_call_tool_with

AGENT = Path(__file__).with_name("agent_server.py")


class RunningAgent:
    """The agent's program, started with the first attempt: only then is it known where the experiment listens.

    Both take any free port, so that two runs never meet. An agent that is deployed somewhere exports to a fixed address
    instead, which the experiment is given: ``OverOtlp(http="0.0.0.0:4318")``.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._url = ""
        self._starting = threading.Lock()

    def url(self) -> str:
        """Where it answers. The first call starts it, exporting to the experiment without the SDK's usual delay of 5 s."""
        with self._starting:
            if self._process is None:
                environ = os.environ | current_attempt().environ()
                self._process = subprocess.Popen(
                    [sys.executable, AGENT], env=environ, stdout=subprocess.PIPE, text=True
                )
                assert self._process.stdout is not None
                self._url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/chat"
            return self._url

    def stop(self) -> None:
        if self._process is not None:
            with self._process:
                self._process.terminate()


def main() -> int:
    agent = RunningAgent()

    def ask(command: str) -> str:
        headers = current_attempt().headers()  # each call carries its attempt's trace on
        return httpx.post(agent.url(), content=command, headers=headers).raise_for_status().text

    experiment = Experiment(
        name="orders",
        cases=[
            EvalCase("status", "Where is order o_9?", reply_should_contain("delivered")),
            EvalCase("again", "And now?", reply_should_contain("delivered")),
        ],
        agent=ask,
        evaluators=[should_call_tool_with("getOrder", "orderId", "o_9")],
        concurrency=2,
        telemetry=OverOtlp(),
    )
    try:
        report = experiment.run()
    finally:
        agent.stop()
    print(report.render())
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
