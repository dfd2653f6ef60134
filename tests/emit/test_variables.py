"""What is wrong with the standard variables is known before an exporter reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_eval.emit.exporters import metric_exporter, signal_exporter
from otel_eval.emit.settings import ExporterSettings, ExportSettingsError, SignalSettings, targets
from otel_eval.emit.variables import mistakes_of, unreadable
from otel_eval.testing.sink import Sink

BASE = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317"}
HTTP = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}
SECURE = {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c:4317"}
NOPE = "cannot read /nope: No such file or directory"


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, []),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, []),  # nothing goes anywhere
        (BASE, []),
        (BASE | {"OTEL_EXPORTER_OTLP_TIMEOUT": "", "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}, []),
        (
            BASE | {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"},
            ["OTEL_EXPORTER_OTLP_PROTOCOL is grpc or http/protobuf, not 'http/json'"],
        ),
        (
            BASE | {"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "zipkin"},
            ["OTEL_EXPORTER_OTLP_LOGS_PROTOCOL is grpc or http/protobuf, not 'zipkin'"],
        ),
        (BASE | {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_SDK_DISABLED": "true"}, []),
        (
            BASE | {"OTEL_EXPORTER_OTLP_TIMEOUT": "10s"},
            ["OTEL_EXPORTER_OTLP_TIMEOUT is a number of seconds, not '10s'"],
        ),
        (
            BASE | {"OTEL_EXPORTER_OTLP_COMPRESSION": "deflate"},
            ["OTEL_EXPORTER_OTLP_COMPRESSION is gzip or none over grpc, not 'deflate'"],
        ),
        (HTTP | {"OTEL_EXPORTER_OTLP_COMPRESSION": "deflate"}, []),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "ftp://c"},
            ["OTEL_EXPORTER_OTLP_ENDPOINT is where to send, as http://collector:4317, which it does not say"],
        ),
        (BASE | {"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nope"}, []),  # not read without TLS
        (
            SECURE | {"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nope"},
            ["OTEL_EXPORTER_OTLP_CERTIFICATE: the file cannot be read: No such file or directory"],
        ),
    ],
)
def test_each_mistake_is_told_once(environ: dict[str, str], said: list[str]) -> None:
    """With the variable that makes it, of those that something is sent by."""
    assert list(mistakes_of(environ)) == said


def test_files_are_not_looked_for_where_they_need_not_be() -> None:
    """They may be on another machine."""
    assert list(mistakes_of(SECURE | {"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nope"}, files=False)) == []


def test_a_file_that_is_no_pem_file(tmp_path: Path) -> None:
    """DER, a key in another form, or the wrong file."""
    (tmp_path / "a.pem").write_text("some text\n-----BEGIN CERTIFICATE-----\n")
    (tmp_path / "a.der").write_bytes(b"\x30\x82")
    assert unreadable(str(tmp_path / "a.pem")) is None
    assert "is no PEM file" in (unreadable(str(tmp_path / "a.der")) or "")
    assert "cannot be read" in (unreadable(str(tmp_path)) or "")


@pytest.mark.parametrize(
    "variable", ["TIMEOUT", "COMPRESSION", "TRACES_TIMEOUT", "LOGS_COMPRESSION", "METRICS_TIMEOUT"]
)
def test_a_blank_variable_is_none(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """The exporters over gRPC would break at it."""
    monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{variable}", " ")
    for target in targets(None, BASE):
        make = metric_exporter if target.signal == "metrics" else signal_exporter
        make(target).shutdown()


def test_no_compression_may_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the specification has it; the exporters over gRPC know gzip alone, and would not be made."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    for target in targets(None, BASE):
        (metric_exporter(target) if target.signal == "metrics" else signal_exporter(target)).shutdown()


@pytest.mark.parametrize(("said", "encoding"), [("none", None), ("gzip", "gzip")])
def test_what_is_said_of_compression_is_done(said: str, encoding: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen by whoever receives it."""
    with Sink() as sink:
        environ = {
            "OTEL_EXPORTER_OTLP_COMPRESSION": said,
            "OTEL_EXPORTER_OTLP_ENDPOINT": sink.http_endpoint,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        }
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        (traces,) = (target for target in targets(None, environ) if target.signal == "traces")
        exporter = signal_exporter(traces)
        exporter.export([])
        exporter.shutdown()
    (request,) = sink.requests
    found = {name.lower(): value for name, value in request.metadata.items()}.get("content-encoding")
    assert found == encoding


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_an_exporter_without_its_files_is_a_mistake_of_the_settings(protocol: str) -> None:
    """Whichever protocol, when it is made and not when it first sends."""
    settings = ExporterSettings(endpoint="https://c:1", protocol=protocol, ca_file="/nope")  # type: ignore[arg-type]
    for target in targets(settings, {}):
        make = metric_exporter if target.signal == "metrics" else signal_exporter
        with pytest.raises(ExportSettingsError, match=NOPE):
            make(target)


def test_what_an_exporter_cannot_be_made_with_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a variable says it that nothing has looked at before."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "10s")
    with pytest.raises(ExportSettingsError, match="traces cannot be exported to http://c:4317: could not convert"):
        signal_exporter(SignalSettings(signal="traces", protocol="grpc", endpoint="http://c:4317"))
