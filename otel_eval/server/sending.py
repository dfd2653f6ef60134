"""Where telemetry is sent to, and that this is not ourselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from otel_eval.config import Config
from otel_eval.config.sections import OtlpDestination
from otel_eval.emit.endpoints import same_listener
from otel_eval.emit.settings import ExporterSettings
from otel_eval.server.errors import ServerError


def exporter_of(section: OtlpDestination | None) -> ExporterSettings | None:
    """Where something is sent; None where the configuration does not say."""
    if section is None:
        return None
    return ExporterSettings(
        endpoint=section.endpoint,
        protocol=section.protocol,
        headers={name: value.get_secret_value() for name, value in section.headers.items()},
        ca_file=section.tls.ca_file,
        cert_file=section.tls.cert_file,
        key_file=section.tls.key_file,
        timeout_s=section.timeout,
        compression=section.compression,
    )


def destinations_of(verdicts: Iterable[str], forwards_to: ExporterSettings | None) -> dict[str, str]:
    """Every endpoint that something is sent to, with the key that says so."""
    exporters = "exporters.otlp.endpoint (or OTEL_EXPORTER_OTLP_ENDPOINT)"
    destinations = dict.fromkeys(verdicts, exporters)
    return destinations if forwards_to is None else {**destinations, forwards_to.endpoint: "forward.otlp.endpoint"}


def refuse_own_listeners(destinations: Mapping[str, str], config: Config) -> None:
    """Raise ServerError where one of the listeners that the configuration names would get what we send."""
    otlp = config.receivers.otlp
    refuse_listeners(destinations, [each.endpoint for each in (otlp.grpc, otlp.http) if each.enabled])


def refuse_listeners(destinations: Mapping[str, str], listeners: Iterable[str]) -> None:
    """Raise ServerError where telemetry would be sent to one of these listeners, whose ports are known."""
    bound = tuple(listeners)
    for endpoint, key in destinations.items():
        if same_listener(endpoint, bound):
            raise ServerError(
                f"telemetry would be sent to {endpoint}, which is a listener of this server, and come straight back: "
                f"set {key} to the collector's"
            )
