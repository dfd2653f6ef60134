"""Ingest against a floor: `otel-eval serve` beside a bare grpcio server that parses the same requests, in one run.

``python -m bench.ingest`` sends one stream to both, one agent's span in ten, 8 requests at a time. ``acknowledged`` is
spans per second until the last request is answered, ``sustained`` until the last verdict is in the ledger (the journal
is on, two exact evaluators are bound; the 2 s after which a trace counts as complete are in it). ``--export`` sends the
verdicts to a collector as well, which takes them unread. CPU time and memory (the resident set over the run, and its share
of pages that processes have in common, at its end) are those of the server's processes together, and of each.
``--processes 1`` has the server receive and judge in one.

Sender, collector and server share the machine's cores with whatever else runs there, so the ratios are lower than on a
machine of the server's own; CPU time a span suffers less from that, and is given for both as well.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc

from bench.neighbours import neighbours
from bench.stream import Stream, stream

EVALUATORS = 2
CONFIG = """
receivers:
  otlp:
    grpc: {{endpoint: "127.0.0.1:0"}}
    http: {{enabled: false}}
server: {{processes: {processes}}}
storage: {{directory: {directory}}}
evaluators:
  looks-up-the-order:
    check: {{should_call_tool: get_order}}
    agents: ["*"]
  does-not-fail:
    check: should_not_fail
    agents: ["*"]
"""
EXPORTER = "exporters: {{otlp: {{endpoint: {endpoint}}}}}\n"
METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_PUSHBACK = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--batches", type=int, default=300, help="of 512 spans")
    options.add_argument("--concurrency", type=int, default=8)
    options.add_argument("--export", action="store_true")
    options.add_argument("--rounds", type=int, default=3, help="the floor and the server, one after the other")
    options.add_argument("--processes", type=int, choices=(1, 2), default=2, help="of the server")
    given = options.parse_args()
    made = stream(given.batches)
    rounds = [
        (
            _floor(made, given.concurrency),
            _server(made, given.concurrency, export=given.export, processes=given.processes),
        )
        for _ in range(given.rounds)
    ]
    report: dict[str, Any] = {
        "load_average": [round(each, 1) for each in os.getloadavg()],
        "stream": {"spans": made.spans, "agent_spans": made.agent_spans, "interactions": made.interactions},
        "rounds": [{"floor": floor, "server": server} for floor, server in rounds],
        "acknowledged_ratio": _ratios(rounds, "acknowledged_spans_per_s"),
        "sustained_ratio": _ratios(rounds, "sustained_spans_per_s"),
    }
    print(json.dumps(report, indent=2))


def _ratios(rounds: Sequence[tuple[dict[str, Any], dict[str, Any]]], rate: str) -> dict[str, float]:
    """Of the best server to the best floor, and the median of the rounds'."""
    best = max(server[rate] for _, server in rounds) / max(floor["spans_per_s"] for floor, _ in rounds)
    each = [server[rate] / floor["spans_per_s"] for floor, server in rounds]
    return {"of_the_best": round(best, 3), "median": round(statistics.median(each), 3)}


def _floor(made: Stream, concurrency: int) -> dict[str, Any]:
    with _process("-m", "bench.floor") as process:
        assert process.stdout is not None
        target = f"127.0.0.1:{int(process.stdout.readline())}"
        _send(made.requests[:20], target, concurrency)
        started, cpu = time.perf_counter(), _cpu_s(process.pid)
        _send(made.requests, target, concurrency)
        return {
            "spans_per_s": round(made.spans / (time.perf_counter() - started)),
            "cpu_us_per_span": round((_cpu_s(process.pid) - cpu) / made.spans * 1e6, 1),
        }


def _server(made: Stream, concurrency: int, *, export: bool, processes: int) -> dict[str, Any]:
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        config = CONFIG.format(directory=directory / "data", processes=processes)
        if export:
            config += EXPORTER.format(endpoint=stack.enter_context(neighbours()).collector)
        (directory / "otel-eval.yaml").write_text(config)
        process = stack.enter_context(
            _process("-m", "otel_eval", "serve", "--config", str(directory / "otel-eval.yaml"))
        )
        target = _address(process)
        pids = _server_pids(process.pid)
        memory = stack.enter_context(_Memory(pids.values()))
        _send(made.requests[:20], target, concurrency)  # as the floor is warmed up
        started, cpu = time.perf_counter(), {name: _cpu_s(pid) for name, pid in pids.items()}
        pushed_back = _send(made.requests, target, concurrency)
        acknowledged, cpu_then = time.perf_counter(), {name: _cpu_s(pid) - cpu[name] for name, pid in pids.items()}
        waits = _verdicts(directory / "data" / "ledger.db", made.interactions * EVALUATORS)
        ended = time.perf_counter()
        used = {name: _cpu_s(pid) - cpu[name] for name, pid in pids.items()}
        return {
            "acknowledged_spans_per_s": round(made.spans / (acknowledged - started)),
            "sustained_spans_per_s": round(made.spans / (ended - started)),
            "seconds": round(ended - started, 1),
            "waited_for_verdicts_s": round(waits, 1),
            "cpu_us_per_span": {name: round(each / made.spans * 1e6, 1) for name, each in used.items()},
            "cores_while_acknowledging": {
                name: round(each / (acknowledged - started), 2) for name, each in cpu_then.items()
            },
            "pushed_back": pushed_back,
            "rss_mb": memory.quarters(),
            "pss_mb": {name: _pss_mb(pid) for name, pid in pids.items()},
        }


def _server_pids(pid: int) -> dict[str, int]:
    """The process that was started, and the one that it started, by what they do."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {"receiving": pid, "judging": int(children[0])} if children else {"all": pid}


def _send(requests: Sequence[bytes], target: str, concurrency: int) -> int:
    """How often the server asked to come back later."""
    waiting = iter(requests)
    lock = threading.Lock()

    def work() -> int:
        pushed_back = 0
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", 64 << 20)]
        with grpc.insecure_channel(target, options=options) as channel:
            export: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(METHOD)
            while True:
                with lock:
                    body = next(waiting, None)
                if body is None:
                    return pushed_back
                pushed_back += _export(export, body)

    with ThreadPoolExecutor(concurrency) as threads:
        return sum(each.result() for each in [threads.submit(work) for _ in range(concurrency)])


def _export(export: Any, body: bytes) -> int:
    pushed_back = 0
    while True:
        try:
            export(body, timeout=60, wait_for_ready=True)
            return pushed_back
        except grpc.RpcError as error:
            if error.code() not in _PUSHBACK:
                raise
            pushed_back += 1
            time.sleep(1)


def _verdicts(ledger: Path, expected: int, timeout_s: float = 600) -> float:
    """Seconds until that many are in the ledger."""
    started = time.perf_counter()
    with contextlib.closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        while (found := connection.execute("SELECT count(*) FROM records").fetchone()[0]) < expected:
            if time.perf_counter() - started > timeout_s:
                raise TimeoutError(f"{found} of {expected} verdicts after {timeout_s:.0f} s")
            time.sleep(0.1)
    return time.perf_counter() - started


@contextlib.contextmanager
def _process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    process = subprocess.Popen(
        [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"grpc (\S+)", line)
    if found is None:
        raise SystemExit(f"the server did not start: {line!r}")
    return found[1]


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _pss_mb(pid: int) -> int:
    found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return 0 if found is None else int(found[1]) >> 10


def _rss_kb(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return 0 if found is None else int(found[1])


class _Memory:
    """The resident sets of processes together, sampled twice a second."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = tuple(pids)
        self._samples: list[int] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def quarters(self) -> list[int]:
        """The largest of each quarter of the run, in MB."""
        step = max(1, len(self._samples) // 4)
        return [max(self._samples[start : start + step]) >> 10 for start in range(0, 4 * step, step)]

    def _run(self) -> None:
        while not self._stop.wait(0.5):
            self._samples.append(sum(map(_rss_kb, self._pids)))

    def __enter__(self) -> _Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


if __name__ == "__main__":
    main()
