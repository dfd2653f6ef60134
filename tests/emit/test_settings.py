"""Where verdicts go: the configuration, else the standard variables, else nowhere."""

from __future__ import annotations

import pytest

from otel_eval.emit.settings import ExporterSettings, ExportSettingsError, endpoint_for, targets

BASE = "OTEL_EXPORTER_OTLP_ENDPOINT"
ENVIRONMENTS = [
    ("nothing said", {}, {}),
    ("one endpoint", {BASE: "http://c:4317"}, dict.fromkeys(("traces", "logs", "metrics"), ("grpc", "http://c:4317"))),
    (
        "the HTTP port",
        {BASE: "http://c:4318/"},
        {signal: ("http/protobuf", f"http://c:4318/v1/{signal}") for signal in ("traces", "logs", "metrics")},
    ),
    (
        "a protocol that is said",
        {BASE: "http://c:9", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
        {signal: ("http/protobuf", f"http://c:9/v1/{signal}") for signal in ("traces", "logs", "metrics")},
    ),
    (
        "one signal's own endpoint, as it stands",
        {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://c:4318/logs"},
        {"logs": ("http/protobuf", "http://c:4318/logs")},
    ),
    (
        "one signal's own protocol",
        {BASE: "http://c:4317", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/protobuf"},
        {
            "traces": ("grpc", "http://c:4317"),
            "logs": ("http/protobuf", "http://c:4317/v1/logs"),
            "metrics": ("grpc", "http://c:4317"),
        },
    ),
    (
        "a signal turned off",
        {BASE: "http://c:4317", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"},
        {"traces": ("grpc", "http://c:4317")},
    ),
    ("all of it turned off", {BASE: "http://c:4317", "OTEL_SDK_DISABLED": "true"}, {}),
    ("an endpoint that is blank", {BASE: "  "}, {}),
]


@pytest.mark.parametrize(("case", "environ", "where"), ENVIRONMENTS, ids=[row[0] for row in ENVIRONMENTS])
def test_the_environment_decides_where_the_configuration_does_not(case, environ, where):
    """The standard variables, with their per-signal forms; without any, nothing is exported."""
    found = targets(None, environ)
    assert {target.signal: (target.protocol, target.endpoint) for target in found} == where
    assert all(target.settings is None for target in found)


def test_the_configuration_comes_before_the_environment():
    """Its endpoint and protocol are for all three signals."""
    settings = ExporterSettings(endpoint="http://mine:1/otlp", protocol="http/protobuf")
    found = targets(settings, {BASE: "http://c:4317", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://c:1"})
    assert [target.endpoint for target in found] == [
        "http://mine:1/otlp/v1/traces", "http://mine:1/otlp/v1/logs", "http://mine:1/otlp/v1/metrics",
    ]  # fmt: skip


@pytest.mark.parametrize("protocol", ["http/json", "HTTP", "udp"])
def test_a_protocol_that_we_do_not_speak_is_refused(protocol):
    """With what is allowed, wherever it was said."""
    with pytest.raises(ExportSettingsError, match="grpc or http/protobuf"):
        targets(None, {BASE: "http://c:1", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol})
    with pytest.raises(ExportSettingsError, match="grpc or http/protobuf"):
        ExporterSettings(endpoint="http://c:1", protocol=protocol)


def test_headers_are_not_shown():
    """They hold keys."""
    assert "secret" not in repr(ExporterSettings(endpoint="http://c:1", headers={"x": "secret"}))


@pytest.mark.parametrize(
    ("base", "whole"),
    [("http://c:1", "http://c:1/v1/logs"), ("c:1", "http://c:1/v1/logs"), ("http://c/v1/logs", "http://c/v1/logs")],
)
def test_the_signals_path_is_appended_once(base, whole):
    """A base URL gets the path, one that has it keeps it, one without a scheme is plain HTTP."""
    assert endpoint_for("logs", base, "http/protobuf") == whole
