"""The outbox: stored, exported in order, marked; and what happens when each of these steps is cut short."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.resources import Resource

from otel_eval.emit.answers import Answer, answer_of_grpc, answer_of_http
from otel_eval.emit.exporters import signal_exporter
from otel_eval.emit.outbox import Backoff, Outbox
from otel_eval.emit.settings import ExporterSettings, targets
from otel_eval.emit.verdicts import Verdicts
from otel_eval.ledger import AsyncLedger
from otel_eval.outcome import Passed
from otel_eval.record import JudgeCall
from otel_eval.testing.clock import ManualClock
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record
from otel_eval.testing.sink import Refusing, Sink

EVENT = "gen_ai.evaluation.result"


class Counts:
    """A Recorder that remembers."""

    def __init__(self):
        self.seen = []

    def record(self, name, amount=1, labels=None, *, judged=None):
        self.seen.append((name, amount, dict(labels or {})))

    def total(self, name, **labels):
        wanted = {key.replace("__", "."): value for key, value in labels.items()}
        return sum(amount for seen, amount, its in self.seen if seen == name and wanted.items() <= its.items())


def exporters_of(endpoint, protocol="grpc", **fields):
    settings = ExporterSettings(endpoint=endpoint, protocol=protocol, timeout_s=5, **fields)
    return [signal_exporter(target) for target in targets(settings, {}) if target.signal != "metrics"]


@contextlib.contextmanager
def outbox_to(endpoint, ledger, guard, protocol="grpc", clock=None, batch=500, **fields):
    outbox = Outbox(
        ledger=ledger,
        verdicts=Verdicts(guard=guard, resource=Resource({})),
        exporters=exporters_of(endpoint, protocol, **fields),
        clock=clock or ManualClock(),
        recorder=Counts(),
        batch=batch,
    )
    try:
        yield outbox
    finally:
        outbox.close()


def counts(outbox) -> Counts:
    return outbox._recorder


def records(count):
    return [evaluation_record(interaction(), f"e{n}") for n in range(count)]


def names(sink):
    return [record.attributes["gen_ai.evaluation.name"] for record in sink.log(EVENT)]


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_spans_and_events_arrive_in_the_order_they_were_stored(sink, ledger, guard, protocol):
    """Batch by batch over either protocol, then marked."""
    endpoint = sink.endpoint if protocol == "grpc" else sink.http_endpoint
    await ledger.finish(records(5))
    with outbox_to(endpoint, ledger, guard, protocol, batch=2, compression="gzip", headers={"X-Key": "s"}) as outbox:
        assert await outbox.export_pending()
    assert names(sink) == [f"e{n}" for n in range(5)]
    assert [span.name for span in sink.spans] == [f"evaluation e{n}" for n in range(5)]
    assert await ledger.outbox_size() == 0
    assert {request.metadata["x-key"] for request in sink.requests} == {"s"}


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_an_outage_costs_delay_and_nothing_else(sink, ledger, guard, protocol, caplog):
    """While the endpoint is down everything waits in order; each try waits twice as long; up again, all arrives once."""
    endpoint = sink.endpoint if protocol == "grpc" else sink.http_endpoint
    # Over HTTP the SDK's exporter tries again by itself within its timeout; a status that it takes as final shows ours.
    sink.refuse(Refusing(http_status=500))
    clock = ManualClock()
    await ledger.finish(records(3))
    with outbox_to(endpoint, ledger, guard, protocol, clock=clock) as outbox, caplog.at_level(logging.WARNING):
        task = asyncio.create_task(outbox.run())
        waits = []
        for _ in range(3):
            await clock.wait_for_sleepers()
            waits.append(clock.next_deadline - clock.monotonic())
            await ledger.finish([evaluation_record(interaction(), f"later{len(waits)}")])
            outbox.wake()
            clock.advance(waits[-1])
            await asyncio.sleep(0)
        await clock.wait_for_sleepers()
        assert waits == [1, 2, 4]
        assert sink.logs == []
        assert counts(outbox).total("otel_eval.export.failures", otel_eval__signal="traces") == 4
        sink.accept()
        clock.advance(60)
        await sink.wait_for(lambda sink: len(sink.logs) == 6)
        outbox.stop()
        await task
    assert names(sink) == ["e0", "e1", "e2", "later1", "later2", "later3"]
    ours = [line.message for line in caplog.records if line.name == "otel_eval.emit.outbox"]
    assert len(ours) == 2
    assert "wait in the outbox" in ours[0]
    assert "exported again" in ours[1]


async def test_spans_are_not_sent_again_while_only_events_are_refused(sink, ledger, guard):
    """As by a collector whose logs pipeline is full: what arrives meanwhile goes on, and nothing goes twice."""
    with Sink() as logs, outbox_to(sink.endpoint, ledger, guard, batch=3) as outbox:
        outbox._exporters[1].shutdown()
        outbox._exporters[1] = exporters_of(logs.endpoint)[1]
        logs.refuse()
        await ledger.finish(records(2))
        assert not await outbox.export_pending()
        await ledger.finish([evaluation_record(interaction(), f"later{n}") for n in range(2)])
        assert not await outbox.export_pending()
        assert not await outbox.export_pending()
        assert [span.name for span in sink.spans] == ["evaluation e0", "evaluation e1", "evaluation later0"]
        logs.accept()
        assert await outbox.export_pending()
    assert [span.name for span in sink.spans][3:] == ["evaluation later1"]
    assert names(logs) == ["e0", "e1", "later0", "later1"]
    assert await ledger.outbox_size() == 0


async def test_a_collector_that_was_gone_is_found_again(sink, ledger, guard):
    """Connections are refused, then the collector is back on its port."""
    sink.stop()
    clock = ManualClock()
    await ledger.finish(records(1))
    with outbox_to(sink.endpoint, ledger, guard, clock=clock) as outbox:
        assert not await outbox.export_pending()
        sink.start()
        assert await outbox.export_pending()
    assert names(sink) == ["e0"]


async def test_it_wakes_when_records_are_stored(sink, ledger, guard):
    """By an event, without the clock being touched."""
    with outbox_to(sink.endpoint, ledger, guard) as outbox, ledger.listening(outbox.wake):
        task = asyncio.create_task(outbox.run())
        await asyncio.sleep(0)
        await ledger.finish(records(1))
        await sink.wait_for(lambda sink: sink.logs)
        outbox.stop()
        await task
    assert await ledger.outbox_size() == 0


async def test_stopping_does_not_wait_for_an_endpoint_that_is_down(sink, ledger, guard):
    """What is not exported stays in the outbox."""
    sink.stop()
    await ledger.finish(records(2))
    with outbox_to(sink.endpoint, ledger, guard) as outbox:
        task = asyncio.create_task(outbox.run())
        outbox.stop()
        await asyncio.wait_for(task, 10)
    assert await ledger.outbox_size() == 2


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_partial_success_is_noted_and_not_sent_again(sink, ledger, guard, protocol, caplog):
    """The endpoint took the batch and threw some away, by its own word: counted, told, marked."""
    sink.reject(2, "too old")
    await ledger.finish(records(3))
    endpoint = sink.endpoint if protocol == "grpc" else sink.http_endpoint
    with outbox_to(endpoint, ledger, guard, protocol) as outbox:
        assert await outbox.export_pending()
        rejected = counts(outbox).total("otel_eval.export.rejected", otel_eval__signal="logs")
    assert rejected == 2
    assert "too old" in caplog.text
    assert await ledger.outbox_size() == 0


class Picky:
    """A traces-only endpoint that refuses requests which hold a certain text."""

    def __init__(self, refused: str) -> None:
        self.refused = refused
        self.taken: list[str] = []

    def export(self, request: ExportTraceServiceRequest, context: grpc.ServicerContext) -> ExportTraceServiceResponse:
        if self.refused and self.refused in str(request):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "cannot be read")
        self.taken += [s.name for r in request.resource_spans for ss in r.scope_spans for s in ss.spans]
        return ExportTraceServiceResponse()


@contextlib.contextmanager
def picky(refused=""):
    endpoint = Picky(refused)
    server = grpc.server(ThreadPoolExecutor(1))
    handler = grpc.unary_unary_rpc_method_handler(
        endpoint.export, ExportTraceServiceRequest.FromString, ExportTraceServiceResponse.SerializeToString
    )
    service = "opentelemetry.proto.collector.trace.v1.TraceService"
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {"Export": handler})])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"http://127.0.0.1:{port}", endpoint
    finally:
        server.stop(None).wait()


async def test_one_record_that_is_refused_does_not_hold_up_the_others(ledger, guard):
    """What the endpoint calls invalid is let go of, alone and counted; the rest of the batch gets through."""
    three = records(3)
    poison = evaluation_record(interaction(), "poison", Passed(explanation="POISON"))
    await ledger.finish([*three[:2], poison, three[2]])
    with picky("POISON") as (url, endpoint), outbox_to(url, ledger, guard) as outbox:
        assert await outbox.export_pending()
        assert counts(outbox).total("otel_eval.export.rejected", otel_eval__reason="refused") == 1
    assert endpoint.taken == ["evaluation e0", "evaluation e1", "evaluation e2"]
    assert ledger.ledger.record(poison.id) == poison
    assert await ledger.outbox_size() == 0


@pytest.mark.parametrize("signal", ["traces", "logs"])
async def test_a_record_that_cannot_be_put_into_telemetry_costs_itself(sink, ledger, guard, signal):
    """Whatever is in it. Nothing is sent twice, or under another's name, and the server goes on."""
    call = JudgeCall(conversation_id="c", requested_model=None if signal == "traces" else "m")
    outcome = Passed(explanation=12 if signal == "logs" else "yes")
    odd = evaluation_record(interaction(), "odd", outcome, judge_calls=(call,))
    two = records(2)
    await ledger.finish([two[0], odd, two[1]])
    with outbox_to(sink.endpoint, ledger, guard) as outbox:
        assert await outbox.export_pending()
        assert counts(outbox).total("otel_eval.export.rejected", otel_eval__signal=signal) == 1
        assert counts(outbox).total("otel_eval.export.rejected") == 1
    all_three, without = ["e0", "odd", "e1"], ["e0", "e1"]
    told = [span.name.removeprefix("evaluation ") for span in sink.spans if span.name != "chat m"]
    assert (told, names(sink)) == ((without, all_three) if signal == "traces" else (all_three, without))
    assert await ledger.outbox_size() == 0


async def test_a_batch_above_the_endpoints_limit_goes_in_parts(ledger, guard):
    """4 MiB where nobody set it, which some hundred judge calls with their content are: in order, and none is lost.

    A record that is too large alone is let go of: nothing would ever get past it.
    """
    explained = [evaluation_record(interaction(), f"e{n}", Passed(explanation="x " * 750_000)) for n in range(5)]
    endless = evaluation_record(interaction(), "endless", Passed(explanation="x " * 2_500_000))
    await ledger.finish([*explained[:3], endless, *explained[3:]])
    with picky() as (url, endpoint), outbox_to(url, ledger, guard) as outbox:
        assert await outbox.export_pending()
        assert counts(outbox).total("otel_eval.export.rejected", otel_eval__reason="refused") == 1
    assert endpoint.taken == [f"evaluation e{n}" for n in range(5)]
    assert await ledger.outbox_size() == 0


async def test_how_much_is_too_much_over_http_is_the_endpoints_to_say(sink, ledger, guard, monkeypatch):
    """The SDK's exporter has a limit of its own, above which it drops a batch without a word to anybody."""
    limit = "opentelemetry.exporter.otlp.proto.http.{}._DEFAULT_MAX_REQUEST_SIZE"
    for module in ("trace_exporter", "_log_exporter"):
        monkeypatch.setattr(limit.format(module), 1000)
    await ledger.finish(records(9))
    with outbox_to(sink.http_endpoint, ledger, guard, "http/protobuf") as outbox:
        assert await outbox.export_pending()
    assert len(sink.requests) == 2


async def test_an_endpoint_that_refuses_everything_is_as_good_as_down(ledger, guard):
    """A whole batch is not thrown away over what may be a mistake in a configuration."""
    await ledger.finish(records(3))
    with picky("evaluation") as (url, _), outbox_to(url, ledger, guard) as outbox:
        assert not await outbox.export_pending()
    assert await ledger.outbox_size() == 3


async def test_a_backend_for_traces_alone_gets_the_spans(ledger, guard, caplog):
    """It has no logs service: the events are left out, said once and counted, and the outbox goes on."""
    await ledger.finish(records(2))
    with picky() as (url, endpoint), outbox_to(url, ledger, guard, batch=1) as outbox:
        assert await outbox.export_pending()
        assert counts(outbox).total("otel_eval.export.rejected", otel_eval__reason="unknown_signal") == 2
    assert endpoint.taken == ["evaluation e0", "evaluation e1"]
    assert caplog.text.count("does not take logs") == 1


async def test_an_endpoint_that_knows_none_of_our_signals_is_as_good_as_down(sink, ledger, guard):
    """A wrong path loses nothing."""
    await ledger.finish(records(1))
    with outbox_to(sink.http_endpoint + "/wrong", ledger, guard, "http/protobuf") as outbox:
        assert not await outbox.export_pending()
    assert await ledger.outbox_size() == 1


CODES = [
    (grpc.StatusCode.UNAVAILABLE, Answer.UNAVAILABLE),
    (grpc.StatusCode.RESOURCE_EXHAUSTED, Answer.UNAVAILABLE),
    (grpc.StatusCode.UNAUTHENTICATED, Answer.UNAVAILABLE),
    (grpc.StatusCode.PERMISSION_DENIED, Answer.UNAVAILABLE),
    (grpc.StatusCode.INVALID_ARGUMENT, Answer.REFUSED),
    (grpc.StatusCode.UNIMPLEMENTED, Answer.UNKNOWN_SIGNAL),
]


@pytest.mark.parametrize(("code", "answer"), CODES, ids=[code.name for code, _ in CODES])
async def test_what_an_answer_means(sink, guard, code, answer):
    """Credentials can be mended and an overload passes: those wait. What is invalid stays so."""
    sink.refuse(Refusing(code))
    traces = exporters_of(sink.endpoint)[0]
    try:
        exported = await asyncio.to_thread(traces.export, ())
    finally:
        traces.shutdown()
    assert exported.answer is answer
    assert "refused by the test" in exported.message


STATUSES = [
    (200, Answer.TAKEN),
    (202, Answer.TAKEN),
    (301, Answer.UNAVAILABLE),
    (400, Answer.REFUSED),
    (401, Answer.UNAVAILABLE),
    (404, Answer.UNKNOWN_SIGNAL),
    (413, Answer.REFUSED),
    (415, Answer.REFUSED),  # JSON that is forwarded to an endpoint for protobuf alone
    (429, Answer.UNAVAILABLE),
    (500, Answer.UNAVAILABLE),
    (501, Answer.UNKNOWN_SIGNAL),
    (503, Answer.UNAVAILABLE),
]


@pytest.mark.parametrize(("status", "answer"), STATUSES)
def test_what_a_status_means(status, answer):
    """What will never be taken must not hold up what comes behind it; what an operator can mend, or passes, waits."""
    assert answer_of_http(status) is answer


SAID = [
    "Received message larger than max (6000000 vs. 4194304)",
    "grpc: received message after decompression larger than max 4194304",
    "gRPC message exceeds maximum size 4194304: 6000000",
    "Error, message length too large: found 6000000 bytes, the limit is: 4194304 bytes",
]


@pytest.mark.parametrize("details", SAID)
def test_a_message_above_the_limit_is_no_overload(details):
    """The same code says both, in gRPC's own words; what is too large today is so tomorrow."""
    assert answer_of_grpc(grpc.StatusCode.RESOURCE_EXHAUSTED, details) is Answer.REFUSED
    assert answer_of_grpc(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many requests") is Answer.UNAVAILABLE
    assert answer_of_grpc(grpc.StatusCode.UNAVAILABLE, details) is Answer.UNAVAILABLE


def test_backoff_doubles_up_to_its_longest():
    """Also after very many failures."""
    backoff = Backoff(first=1, longest=60)
    assert [backoff.after(n) for n in (1, 2, 3, 7, 5000)] == [1, 2, 4, 60, 60]


KILLED = """
import asyncio, os, signal, sys
from opentelemetry.sdk.resources import Resource
from otel_eval.clock import SystemClock
from otel_eval.emit.exporters import signal_exporter
from otel_eval.emit.outbox import Outbox
from otel_eval.emit.settings import ExporterSettings, targets
from otel_eval.emit.verdicts import Verdicts
from otel_eval.instruments import NullRecorder
from otel_eval.ledger import AsyncLedger
from otel_eval.loop_guard import LoopGuard
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record

url, endpoint, moment = sys.argv[1:]

class Killed(AsyncLedger):
    async def mark_exported(self, sequences):
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    ledger = await Killed.open(url)
    await ledger.finish([evaluation_record(interaction(), f"e{n}") for n in range(3)])
    if moment == "store":
        os.kill(os.getpid(), signal.SIGKILL)
    exporters = [signal_exporter(t) for t in targets(ExporterSettings(endpoint=endpoint), {}) if t.signal != "metrics"]
    verdicts = Verdicts(guard=LoopGuard(b"k" * 32), resource=Resource({}))
    await Outbox(ledger=ledger, verdicts=verdicts, exporters=exporters, clock=SystemClock(), recorder=NullRecorder()).run()

asyncio.run(main())
"""


@pytest.mark.parametrize("moment", ["store", "mark"])
async def test_kill_9_loses_nothing_and_repeats_only_the_same(sink, guard, tmp_path, moment):
    """Killed after storing, or between export and mark: the next start exports, with identical ids and content."""
    url = f"sqlite:///{tmp_path}/killed.db"
    arguments = [sys.executable, "-c", KILLED, url, sink.endpoint, moment]
    killed = await asyncio.to_thread(subprocess.run, arguments, capture_output=True, text=True)
    assert killed.returncode == -9, killed.stderr
    first = (sink.spans, sink.logs)
    assert len(first[1]) == (0 if moment == "store" else 3)
    sink.clear()
    async with await AsyncLedger.open(url) as ledger:
        with outbox_to(sink.endpoint, ledger, guard) as outbox:
            assert await outbox.export_pending()
        assert await ledger.outbox_size() == 0
    assert names(sink) == ["e0", "e1", "e2"]
    if moment == "mark":
        assert (sink.spans, sink.logs) == first
