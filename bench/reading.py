"""What reading and assembling a span costs, as ratios to parsing the same bytes with protobuf alone.

``python -m bench.reading`` measures CPU time of one process: of an agent's spans in a stream of theirs alone, of ordinary
spans in one of ordinary spans; what ordinary spans add to assembling is the difference to the mixed stream. The best of
several rounds counts, since other processes on the machine only ever add.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.stream import RECORDING, Stream, stream
from otel_eval.assemble.assembler import assemble_nodes
from otel_eval.assemble.nodes import Node, observe
from otel_eval.conventions.registry import default_registry
from otel_eval.receive.decode import sift_traces
from otel_eval.receive.sieve import Sieve

T = TypeVar("T")
SIEVE = Sieve(default_registry().conventions)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--batches", type=int, default=20, help="of 512 spans, in each stream")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--recording", default=RECORDING)
    given = options.parse_args()
    agents, mixed, ordinary = (
        stream(given.batches, agent_share=share, recording=given.recording) for share in (1, 0.1, 0)
    )
    assembled_agents = _assembled_us(agents, given.rounds) / agents.spans
    added = _assembled_us(mixed, given.rounds) - assembled_agents * mixed.agent_spans
    measured = {
        "agent": _row(agents, given.rounds, assembled_agents),
        "ordinary": _row(ordinary, given.rounds, added / (mixed.spans - mixed.agent_spans)),
    }
    print(json.dumps(measured, indent=2))


def _row(made: Stream, rounds: int, assembled: float) -> dict[str, float]:
    """Microseconds a span, and how often protobuf alone could parse it in that time."""
    parsed = _best(lambda: [ExportTraceServiceRequest.FromString(body) for body in made.requests], rounds) / made.spans
    read = _best(lambda: _read(made.requests), rounds) / made.spans
    return {
        "bytes": round(made.size / made.spans),
        "parse_us": round(parsed, 2),
        "read_us": round(read, 2),
        "assemble_us": round(assembled, 2),
        "read_and_assemble_us": round(read + assembled, 2),
        "ratio_to_parse": round((read + assembled) / parsed, 1),
    }


def _read(requests: Iterable[bytes]) -> list[Node]:
    return [observe(span) for body in requests for span in sift_traces(body, "protobuf", SIEVE)]


def _assembled_us(made: Stream, rounds: int) -> float:
    traces: dict[str, list[Node]] = {}
    for node in _read(made.requests):
        traces.setdefault(node.trace_id, []).append(node)
    return _best(lambda: [assemble_nodes(nodes) for nodes in traces.values()], rounds)


def _best(work: Callable[[], object], rounds: int) -> float:
    """CPU time of the fastest round, in microseconds."""
    times = []
    for _ in range(rounds):
        started = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - started)
    return min(times) / 1000


if __name__ == "__main__":
    main()
