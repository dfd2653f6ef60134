"""Where verdicts go: from the configuration, else from the standard ``OTEL_EXPORTER_OTLP_*`` variables, else nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

Signal: TypeAlias = Literal["traces", "logs", "metrics"]
Protocol: TypeAlias = Literal["grpc", "http/protobuf"]
SIGNALS: tuple[Signal, ...] = ("traces", "logs", "metrics")
PREFIX = "OTEL_EXPORTER_OTLP_"


class ExportSettingsError(ValueError):
    """A setting names what does not exist. The message says which one, and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterSettings:
    """An OTLP endpoint.

    ``endpoint`` is a base URL: over HTTP, ``/v1/traces`` and so on are appended. ``insecure`` None: by the URL's scheme.
    The three files are PEM. What is left unset has the exporters' defaults, whatever ``OTEL_EXPORTER_OTLP_*`` variables
    say: those are for an endpoint of their own. ``headers`` are secrets: they are in no log and in no ``repr``.
    """

    endpoint: str
    protocol: Protocol = "grpc"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    insecure: bool | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    timeout_s: float | None = None
    compression: Literal["gzip", "none"] | None = None

    def __post_init__(self) -> None:
        if self.protocol not in ("grpc", "http/protobuf"):
            raise ExportSettingsError(f"protocol is grpc or http/protobuf, not {self.protocol!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalSettings:
    """Where one signal goes. ``settings`` is None where the exporter is to read its own environment variables."""

    signal: Signal
    protocol: Protocol
    endpoint: str
    settings: ExporterSettings | None = None


def targets(settings: ExporterSettings | None, environ: Mapping[str, str]) -> tuple[SignalSettings, ...]:
    """Where each signal goes; a signal that goes nowhere is left out. Raises ExportSettingsError.

    The environment decides only where the configuration has no exporter. Then a signal is exported if it has an endpoint
    (its own, or the general one) and ``OTEL_<SIGNAL>_EXPORTER`` is not ``none``; a protocol that is not said is grpc,
    except at port 4318. ``OTEL_SDK_DISABLED=true`` turns all of it off.
    """
    signals = signals_on(environ)
    if settings is not None and signals:
        return tuple(
            SignalSettings(
                signal=signal,
                protocol=settings.protocol,
                endpoint=endpoint_for(signal, settings.endpoint, settings.protocol),
                settings=settings,
            )
            for signal in SIGNALS
        )
    found = (from_environment(signal, environ) for signal in signals)
    return tuple(target for target in found if target is not None)


def signals_on(environ: Mapping[str, str]) -> tuple[Signal, ...]:
    """The signals that ``OTEL_SDK_DISABLED`` does not turn off: all of them, or none."""
    return () if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" else SIGNALS


def endpoint_for(signal: Signal, base: str, protocol: Protocol) -> str:
    """The base URL itself over gRPC; over HTTP with the signal's path, unless it ends with that already."""
    if protocol == "grpc":
        return base
    with_scheme = base if "://" in base else f"http://{base}"
    path = f"/v1/{signal}"
    return with_scheme if with_scheme.endswith(path) else with_scheme.rstrip("/") + path


def from_environment(signal: Signal, environ: Mapping[str, str]) -> SignalSettings | None:
    """Where the variables send that signal; None where they do not. Raises ExportSettingsError for an unknown protocol."""

    def value(name: str) -> str:
        return environ.get(name, "").strip()

    own = value(f"{PREFIX}{signal.upper()}_ENDPOINT")
    endpoint = own or value(f"{PREFIX}ENDPOINT")
    if not endpoint or value(f"OTEL_{signal.upper()}_EXPORTER") == "none":
        return None
    variable = f"{PREFIX}{signal.upper()}_PROTOCOL"
    if not value(variable):
        variable = f"{PREFIX}PROTOCOL"
    protocol = value(variable) or _likely_protocol(endpoint)
    if protocol == "grpc":
        return SignalSettings(signal=signal, protocol="grpc", endpoint=endpoint)
    if protocol == "http/protobuf":
        whole = own or endpoint_for(signal, endpoint, "http/protobuf")
        return SignalSettings(signal=signal, protocol="http/protobuf", endpoint=whole)
    raise ExportSettingsError(f"{variable} is grpc or http/protobuf, not {protocol!r}")


def _likely_protocol(endpoint: str) -> Protocol:
    try:
        port = urlsplit(endpoint if "://" in endpoint else f"//{endpoint}").port
    except ValueError:
        port = None
    return "http/protobuf" if port == 4318 else "grpc"
