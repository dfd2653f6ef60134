"""What passes the check at the door and cannot be read behind it costs itself, never its request."""

from __future__ import annotations

import json
from pathlib import Path

import grpc
import httpx
import pytest
from google.protobuf import json_format

from otel_eval.testing.otlp import logs_request, otlp_logs_request, otlp_request, trace_request
from otel_eval.testing.server import RunningServer, running
from otel_eval.testing.sink import Sink
from otel_eval.testing.spans import agent_span, conversation, log_record
from tests.server.process import start
from tests.server.test_crash import ended, write_config

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
CONFIG = {"evaluators": {"calm": {"check": "should_not_fail", "agents": ["*"]}}}
NOT_UTF8 = b"\xff\xfe\xfd"


async def export(endpoint: str | None, method: str, body: bytes) -> bytes:
    async with grpc.aio.insecure_channel(endpoint or "") as channel:
        return bytes(await channel.unary_unary(method)(body))


def quarantined(server: RunningServer, directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "quarantine").glob("*.reason"))


async def test_text_that_is_not_utf8_in_one_span_costs_that_span(tmp_path: Path) -> None:
    """It is acknowledged, and lies too deep for the check: the Interaction beside it is judged, the span is counted."""
    spans, bad = conversation(), agent_span(attributes={"gen_ai.operation.name": "invoke_agent", "note": "###"})
    body = otlp_request([*spans, bad]).replace(b"###", NOT_UTF8)
    async with Sink() as sink:
        exporter = {"exporters": {"otlp": {"endpoint": sink.endpoint}}, "emit": {"metrics_interval": "200ms"}}
        config = CONFIG | exporter | {"storage": {"directory": str(tmp_path)}}
        async with running(config) as server:
            await export(server.server.grpc, TRACES, body)
            records = await server.wait_for_evaluations(f"{spans[0].trace_id}-{spans[0].span_id}")
            assert [record.outcome.name for record in records] == ["passed"]
            await sink.wait_for(lambda sink: sink.counted("otel_eval.spans.dropped", otel_eval__reason="malformed"))
            assert sink.counted("otel_eval.spans.dropped", otel_eval__reason="malformed") == 1
            assert len(server.interactions) == 1
            assert quarantined(server, tmp_path) == []


async def test_a_request_of_which_nothing_parses_goes_to_quarantine(tmp_path: Path) -> None:
    """With its reason beside it; the next request is read."""
    logs = logs_request([log_record("x", trace_id="a" * 32, span_id="b" * 16, attributes={"note": "###"})])
    async with running(CONFIG | {"storage": {"directory": str(tmp_path)}}) as server:
        await export(server.server.grpc, LOGS, logs.SerializeToString().replace(b"###", NOT_UTF8))
        spans = conversation()
        await export(server.server.grpc, TRACES, otlp_request(spans))
        await server.wait_for_evaluations(f"{spans[0].trace_id}-{spans[0].span_id}")
        (name,) = quarantined(server, tmp_path)
        assert "not an OTLP request of logs" in (tmp_path / "quarantine" / name).read_text()
        assert server.server.journal.last_seq == 2
        assert server.server.pipeline.read_up_to == 2


CONVENTION = """
from otel_eval.conventions.facts import Convention

def read(span):
    if "trap" in span.attributes:
        raise KeyError(span.attributes["trap"])
    return None

def read_log(record):
    if "trap" in record.attributes:
        raise ZeroDivisionError
    return None

CONVENTION = Convention(name="acme", read=read, read_log=read_log, prefixes=("trap",))
"""


def install(directory: Path, name: str, source: str, target: str) -> None:
    """A package on the path that registers a convention, as an installed one would."""
    (directory / f"{name}.py").write_text(source)
    metadata = directory / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[otel_eval.conventions]\nacme = {target}\n")


async def test_a_convention_that_raises_costs_the_span_alone(tmp_path: Path) -> None:
    """The span is taken for an ordinary one and counted, which convention it was is logged once, without content."""
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages, "acme_conventions", CONVENTION, "acme_conventions:CONVENTION")
    spans = conversation()
    traps = [agent_span(attributes={"gen_ai.operation.name": "invoke_agent", "trap": "hush"}) for _ in range(3)]
    records = [log_record("x", trace_id=spans[0].trace_id, span_id=spans[0].span_id, attributes={"trap": 1})]
    async with Sink() as sink:
        config = write_config(
            tmp_path, exporters={"otlp": {"endpoint": sink.endpoint}}, emit={"metrics_interval": "200ms"}
        )
        server = await start(config, {"PYTHONPATH": str(packages)}, errors=True)
        await export(server.grpc, LOGS, otlp_logs_request(records))
        await export(server.grpc, TRACES, otlp_request([*traps, *spans]))
        found = await ended(tmp_path / "data" / "ledger.db", {f"{spans[0].trace_id}-{spans[0].span_id}"}, evaluators=2)
        assert len(found) == 2
        await sink.wait_for(lambda sink: sink.counted("otel_eval.spans.dropped", otel_eval__reason="unreadable"))
        assert sink.counted("otel_eval.spans.dropped", otel_eval__reason="unreadable") == 3
        assert sink.counted("otel_eval.logs.dropped", otel_eval__reason="unreadable") == 1
        assert await server.terminate() == 0
    said = await server.errors()
    assert said.count("the convention in acme_conventions raises KeyError") == 1
    assert said.count("the convention in acme_conventions raises ZeroDivisionError") == 1
    assert "hush" not in said
    assert not (tmp_path / "data" / "quarantine").exists()


async def test_a_convention_that_cannot_be_loaded_stops_the_start(tmp_path: Path) -> None:
    """Before a span is taken that would be read without it."""
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages, "acme_broken", "raise OSError('no such device')", "acme_broken:CONVENTION")
    with pytest.raises(AssertionError, match="not ready"):
        await start(write_config(tmp_path), {"PYTHONPATH": str(packages)})


async def test_json_that_is_odd_inside_is_read_as_far_as_it_goes() -> None:
    """Over HTTP too: values of the wrong type are empty, the Interaction is judged."""
    spans = conversation()
    tree = json.loads(json_format.MessageToJson(trace_request(spans)))
    attributes = tree["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"]
    attributes.append({"key": "odd", "value": {"arrayValue": {"values": 5}}})
    async with running(CONFIG) as server, httpx.AsyncClient() as client:
        answer = await client.post(
            f"{server.http_endpoint}/v1/traces", json=tree, headers={"content-type": "application/json"}
        )
        assert answer.status_code == 200
        await server.wait_for_evaluations(f"{spans[0].trace_id}-{spans[0].span_id}")


def replying(text: str) -> str:
    """Output messages whose text is that piece of JSON, as it stands."""
    return '[{"role": "assistant", "parts": [{"type": "text", "content": ' + text + "}]}]"


def calling(arguments: str) -> str:
    return '[{"role": "assistant", "parts": [{"type": "tool_call", "name": "t", "arguments": ' + arguments + "}]}]"


@pytest.mark.parametrize(
    "output",
    [
        replying('"cut within an emoji \\ud83d"'),
        replying('"\\u0000"'),
        calling('{"cents": 123456789012345678901234567890}'),
        calling('{"cents": 1e999, "rate": NaN}'),
        *(calling('{"a":' * depth + "1" + "}" * depth) for depth in (100, 240, 253, 400, 900, 3000)),
    ],
    ids=lambda text: text[60:90],
)
async def test_content_that_json_writers_refuse_is_judged_and_exported(output: str) -> None:
    """What an agent says is not ours to choose: it must not stop the server, nor the verdicts behind it."""
    odd = agent_span(attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": output})
    sound = conversation()
    async with Sink() as sink:
        config = {
            "evaluators": {
                "calm": CONFIG["evaluators"]["calm"],
                "says": {"check": {"reply_should_contain": "zork"}, "agents": ["*"]},
            },
            "exporters": {"otlp": {"endpoint": sink.endpoint}},
        }
        async with running(config) as server:
            for spans in ([odd], sound):
                await export(server.server.grpc, TRACES, otlp_request(spans))
            for span in (odd, sound[0]):
                records = await server.wait_for_evaluations(f"{span.trace_id}-{span.span_id}")
                assert {record.evaluator for record in records} == {"calm", "says"}
            await sink.wait_for(lambda sink: len(sink.log("gen_ai.evaluation.result")) == 4)
