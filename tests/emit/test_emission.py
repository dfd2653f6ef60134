"""Emission as serve uses it: from settings and environment to what arrives, and nothing where nothing is configured."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

import otel_eval.emit.emission as emission_module
from otel_eval.clock import SystemClock
from otel_eval.emit.emission import Emission, EmissionSettings
from otel_eval.emit.settings import ExporterSettings
from otel_eval.instruments import NullRecorder
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record

EVENT = "gen_ai.evaluation.result"
HANGS_S = 60.0
"""The timeout of an exporter whose endpoint does not answer."""


async def test_nothing_is_exported_unless_configured(ledger, guard):
    """No exporter, no outbox, metrics that go nowhere; and the block still runs."""
    emission = Emission(EmissionSettings(), guard=guard, environ={})
    assert (emission.exports_verdicts, emission.endpoints) == (False, ())
    assert isinstance(emission.recorder, NullRecorder)
    async with emission.running(ledger, SystemClock()) as outbox:
        assert outbox is None


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_the_standard_variables_are_enough(sink, ledger, guard, monkeypatch, protocol):
    """Endpoint, protocol, headers, compression, service name and resource attributes, as any SDK reads them."""
    endpoint = sink.endpoint if protocol == "grpc" else sink.http_endpoint
    environ = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=general",
        "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "x-key=for-logs",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=staging,service.instance.id=i-1",
        "OTEL_SERVICE_NAME": "our-judge",
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    emission = Emission(EmissionSettings(), guard=guard, version="1.2", environ=environ)
    async with emission.running(ledger, SystemClock()):
        await ledger.finish([evaluation_record(interaction())])
        emission.recorder.record("otel_eval.backlog.evaluations", 1)
        await sink.wait_for(lambda sink: sink.log(EVENT))
    keys = {request.signal: request.metadata["x-key"] for request in sink.requests}
    assert keys == {"traces": "general", "logs": "for-logs", "metrics": "general"}
    for sent in (sink.spans[0], sink.logs[0], sink.metrics[0]):
        resource = sent.resource.attributes
        assert (resource["service.name"], resource["service.version"]) == ("our-judge", "1.2")
        assert (resource["deployment.environment.name"], resource["service.instance.id"]) == ("staging", "i-1")


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_a_configured_endpoint_is_not_sent_what_the_variables_say(sink, ledger, guard, monkeypatch, protocol):
    """Their headers are the key to somebody else's endpoint, and their certificate is not this one's."""
    variables = {
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=of-a-vendor",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-key=of-a-vendor",
        "OTEL_EXPORTER_OTLP_CERTIFICATE": "/not/there.pem",
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "/not/there.pem",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "no number",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    endpoint = sink.endpoint if protocol == "grpc" else sink.http_endpoint
    settings = EmissionSettings(exporter=ExporterSettings(endpoint=endpoint, protocol=protocol))
    emission = Emission(settings, guard=guard, environ=dict(os.environ))
    async with emission.running(ledger, SystemClock()):
        await ledger.finish([evaluation_record(interaction())])
        emission.recorder.record("otel_eval.backlog.evaluations", 1)
        await sink.wait_for(lambda sink: sink.log(EVENT))
    assert {request.signal for request in sink.requests} == {"traces", "logs", "metrics"}
    assert all("x-key" not in request.metadata for request in sink.requests)
    assert {name: os.environ[name] for name in variables} == variables


async def test_without_a_name_we_are_otel_eval_and_the_same_after_a_restart(sink, ledger, guard):
    """The instance id is the storage's, not a random one: series go on where they were."""
    ids = []
    for _ in range(2):
        settings = EmissionSettings(exporter=ExporterSettings(endpoint=sink.endpoint), instance="/data")
        async with Emission(settings, guard=guard, environ={}).running(ledger, SystemClock()):
            await ledger.finish([evaluation_record(interaction())])
            await sink.wait_for(lambda sink: sink.log(EVENT))
        ids.append(sink.spans[-1].resource.attributes["service.instance.id"])
        assert sink.spans[-1].resource.attributes["service.name"] == "otel-eval"
        sink.clear()
    assert ids[0] == ids[1]


async def test_a_clean_stop_leaves_nothing_behind(sink, ledger, guard):
    """What was stored before the block ended is exported and marked, and metrics are flushed."""
    emission = Emission(EmissionSettings(exporter=ExporterSettings(endpoint=sink.endpoint)), guard=guard, environ={})
    async with emission.running(ledger, SystemClock()):
        await ledger.finish([evaluation_record(interaction(), f"e{n}") for n in range(700)])
    assert await ledger.outbox_size() == 0
    assert len(sink.log(EVENT)) == 700
    assert sink.latest("otel_eval.outbox.evaluations").value == 0


def test_what_other_stages_need_imports_no_opentelemetry():
    """Placement, settings and endpoints are plain Python."""
    code = (
        "import sys, otel_eval.emit, otel_eval.emit.placement, otel_eval.emit.settings, otel_eval.emit.endpoints,"
        " otel_eval.emit.attributes;"
        " print([m for m in ('opentelemetry', 'grpc', 'google.protobuf', 'sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_stop_while_the_endpoint_is_down_is_quick(sink, ledger, guard):
    """Neither verdicts nor metrics hold it up; the verdicts are still there."""
    sink.stop()
    emission = Emission(EmissionSettings(exporter=ExporterSettings(endpoint=sink.endpoint)), guard=guard, environ={})
    started = time.monotonic()
    async with emission.running(ledger, SystemClock()):
        await ledger.finish([evaluation_record(interaction())])
    assert time.monotonic() - started < 5
    assert await ledger.outbox_size() == 1


@contextlib.contextmanager
def hanging() -> Iterator[str]:
    """An endpoint that the kernel lets connect, and that nobody answers at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        yield f"http://{host}:{port}"


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_an_exporter_that_hangs_has_its_time_beside_judges_that_do(ledger, guard, monkeypatch, protocol):
    """It is not waited for once more: nothing is left of what it may take."""
    with hanging() as endpoint:
        environ = {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": f"{HANGS_S:g}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        }
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        emission = Emission(EmissionSettings(), guard=guard, environ=environ)
        async with emission.running(ledger, SystemClock()) as outbox:
            await ledger.finish([evaluation_record(interaction())])
            async with asyncio.timeout(20):
                while outbox.exporting_since is None:  # noqa: ASYNC110 - nobody tells of it
                    await asyncio.sleep(0.01)
            assert emission._patience(outbox) == emission_module.STOP_WITHIN_S, "nobody stops yet"
            emission.stopping()
            monkeypatch.setattr(emission_module, "STOP_WITHIN_S", 0.1)
            await asyncio.sleep(0.2)  # evaluations that run have their time
            assert emission._patience(outbox) == 0
            began = time.monotonic()
        assert time.monotonic() - began < HANGS_S / 2
    assert await ledger.outbox_size() == 1


def test_metrics_that_hang_are_given_up_on(sink, guard, monkeypatch):
    """After so long as they are given; the connections are closed all the same."""
    emission = Emission(EmissionSettings(exporter=ExporterSettings(endpoint=sink.endpoint)), guard=guard, environ={})
    goes_on, closed = threading.Event(), threading.Event()
    close = emission.recorder.close

    def hangs():
        goes_on.wait()
        close()
        closed.set()

    monkeypatch.setattr(emission.recorder, "close", hangs)
    emission.close(within_s=0.05)
    assert not closed.is_set()
    goes_on.set()
    assert closed.wait(30)


async def test_a_try_that_hangs_after_one_that_failed_is_not_waited_for(sink, ledger, guard):
    """The endpoint is down already: a last try has a moment, not the time that one which hangs for the first time has."""
    sink.stop()
    emission = Emission(EmissionSettings(exporter=ExporterSettings(endpoint=sink.endpoint)), guard=guard, environ={})
    async with emission.running(ledger, SystemClock()) as outbox:
        assert emission._patience(outbox) == emission_module.STOP_WITHIN_S
        await ledger.finish([evaluation_record(interaction())])
        async with asyncio.timeout(20):
            while not outbox.is_down:  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0.01)
        assert emission._patience(outbox) == emission_module.LAST_TRY_S


def test_what_never_ran_can_be_closed(sink, guard):
    """Where the start failed half-way: no thread and no connection is left behind, and closing twice is fine."""
    emission = Emission(EmissionSettings(exporter=ExporterSettings(endpoint=sink.endpoint)), guard=guard, environ={})
    before = threading.active_count()
    emission.close()
    emission.close()
    assert threading.active_count() < before
