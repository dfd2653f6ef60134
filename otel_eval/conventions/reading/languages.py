"""In which language a program is written: some frameworks have their switches, or their shapes, by language."""

from __future__ import annotations

from otel_eval.signals import LogRecord, Span

LANGUAGE = "telemetry.sdk.language"


def is_go(signal: Span | LogRecord) -> bool:
    """Whether OpenTelemetry's SDK for Go wrote it; False where the resource does not tell."""
    return signal.resource.attributes.get(LANGUAGE) == "go"
