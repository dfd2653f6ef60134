"""However the telemetry of a real run arrives, the same Interactions come out.

A sample of the captures each time, by a seed that a failure tells; ``OTEL_EVAL_CORPUS_SEED=<seed>`` runs that sample again.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.completion import Completion
from otel_eval.assemble.nodes import join, observe
from otel_eval.interaction import Interaction
from otel_eval.receive.decode import decode_logs, decode_traces
from otel_eval.receive.files import read_path
from otel_eval.signals import LogRecord, Span
from tests.corpus.known import APART
from tests.corpus.recordings import names

SAMPLE = 60
SEED = int(os.environ.get("OTEL_EVAL_CORPUS_SEED") or random.SystemRandom().randrange(1_000_000))
T = TypeVar("T")


@pytest.fixture
def chance() -> random.Random:
    """Chance that can be repeated."""
    return random.Random(SEED)


def sampled(corpus: Path, chance: random.Random) -> Iterator[tuple[str, Path]]:
    """Captures, each with what to say if it fails."""
    for name in chance.sample(names(), SAMPLE):
        yield f"{name}, OTEL_EVAL_CORPUS_SEED={SEED}", corpus / name


def test_in_any_order_and_twice(corpus: Path, chance: random.Random) -> None:
    """Shuffled, and with some spans and records sent again."""
    for about, capture in sampled(corpus, chance):
        recording = read_path(capture)
        expected = assemble(recording.spans, recording.logs)
        spans, logs = jumbled(recording.spans, chance), jumbled(recording.logs, chance)
        assert assemble(spans, logs) == expected, about


def test_in_any_batches(corpus: Path, chance: random.Random) -> None:
    """Exported in other requests than those recorded, as a collector's batch processor would send them."""
    for about, capture in sampled(corpus, chance):
        if any(path.suffix == ".json" and path.name != "expected.json" for path in capture.iterdir()):
            continue  # protobuf is what can be taken apart here
        recording = read_path(capture)
        spans = [span for request in trace_requests(capture, chance) for span in decode_traces(request)]
        logs = [record for request in log_requests(capture, chance) for record in decode_logs(request)]
        assert (len(spans), len(logs)) == (len(recording.spans), len(recording.logs)), about
        assert assemble(spans, logs) == assemble(recording.spans, recording.logs), about


def test_live_gives_what_offline_gives(corpus: Path) -> None:
    """Handed bit by bit to what decides when an Interaction is complete, every capture but the known ones, in one order."""
    differ = set()
    for name in names():
        chance = random.Random(name)
        recording = read_path(corpus / name)
        arrived: list[Span | LogRecord] = [*recording.spans, *recording.logs]
        chance.shuffle(arrived)
        offline = assemble(recording.spans, recording.logs)
        if live(list(cut(arrived, chance))) != {each.id: each for each in offline}:
            differ.add(name)
    assert differ - set(APART) == set()
    assert set(APART) - differ == set(), "the same by now: take them out of known.py"


def live(batches: Sequence[Sequence[Span | LogRecord]]) -> dict[str, Interaction]:
    """What a server would have stored in the end, all having arrived within a second."""
    completion, stored = Completion(), {}
    for place, batch in enumerate(batches):
        nodes = [observe(each) for each in batch if isinstance(each, Span)]
        notes = [note for each in batch if isinstance(each, LogRecord) and (note := join(each)) is not None]
        completion.add(nodes, notes, now=place / len(batches))
    while (deadline := completion.next_deadline()) is not None:
        due = completion.due(deadline)
        stored.update({each.interaction.id: each.interaction for each in due.ready})
        for alias in due.aliases:
            stored.pop(alias, None)
    return stored


def trace_requests(capture: Path, chance: random.Random) -> Iterator[bytes]:
    """Its spans in other requests, in any order."""
    spans = []
    for path in sorted(capture.glob("*-traces.pb")):
        for resource in ExportTraceServiceRequest.FromString(path.read_bytes()).resource_spans:
            spans += [(resource, scope, span) for scope in resource.scope_spans for span in scope.spans]
    chance.shuffle(spans)
    for batch in cut(spans, chance):
        request = ExportTraceServiceRequest()
        for resource, scope, span in batch:
            beside = request.resource_spans.add(resource=resource.resource, schema_url=resource.schema_url)
            beside.scope_spans.add(scope=scope.scope, schema_url=scope.schema_url, spans=[span])
        yield request.SerializeToString()


def log_requests(capture: Path, chance: random.Random) -> Iterator[bytes]:
    """Its log records in other requests, in any order."""
    records = []
    for path in sorted(capture.glob("*-logs.pb")):
        for resource in ExportLogsServiceRequest.FromString(path.read_bytes()).resource_logs:
            records += [(resource, scope, record) for scope in resource.scope_logs for record in scope.log_records]
    chance.shuffle(records)
    for batch in cut(records, chance):
        request = ExportLogsServiceRequest()
        for resource, scope, record in batch:
            beside = request.resource_logs.add(resource=resource.resource, schema_url=resource.schema_url)
            beside.scope_logs.add(scope=scope.scope, schema_url=scope.schema_url, log_records=[record])
        yield request.SerializeToString()


def jumbled(items: Sequence[T], chance: random.Random) -> list[T]:
    """In any order, some twice."""
    again = chance.sample(list(items), k=min(4, len(items)))
    found = [*items, *again]
    chance.shuffle(found)
    return found


def cut(items: Sequence[T], chance: random.Random) -> Iterator[Sequence[T]]:
    """Into batches of any size."""
    start = 0
    while start < len(items):
        size = chance.randint(1, 8)
        yield items[start : start + size]
        start += size
