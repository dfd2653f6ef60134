"""The receivers of a server: as the configuration says, for as long as the server takes requests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from otel_eval.config import Config
from otel_eval.config.sections import GrpcListener, HttpListener, ServerTls
from otel_eval.receive.intake import Intake
from otel_eval.receive.listener import Listener
from otel_eval.receive.receivers import Receivers

STOP_RECEIVING_S = 5.0
"""How long requests in flight may take when the server stops."""


@contextlib.asynccontextmanager
async def listening(config: Config, intake: Intake) -> AsyncIterator[dict[str, str]]:
    """Take requests for the block. Gives the addresses by transport (``grpc``, ``http``), with the ports that were bound.

    Raises ReceiverError where it cannot listen there.
    """
    otlp = config.receivers.otlp
    receivers = Receivers(
        intake,
        grpc=listener_of(otlp.grpc) if otlp.grpc.enabled else None,
        http=listener_of(otlp.http) if otlp.http.enabled else None,
    )
    await receivers.start()
    try:
        yield receivers.endpoints
    finally:
        await receivers.stop(STOP_RECEIVING_S)


def listener_of(section: GrpcListener | HttpListener) -> Listener:
    """A listener's settings, as the receivers take them."""
    token = section.auth.bearer_token
    whole = tls_listener(section.endpoint, section.tls, section.max_message_bytes)
    return whole if token is None else replace(whole, token=token.get_secret_value())


def tls_listener(endpoint: str, tls: ServerTls | None, max_message_bytes: int) -> Listener:
    """A listener's settings, but for whom it lets in."""
    return Listener(
        endpoint=endpoint,
        certificate=None if tls is None else Path(tls.cert_file),
        key=None if tls is None else Path(tls.key_file),
        client_ca=None if tls is None or tls.client_ca_file is None else Path(tls.client_ca_file),
        max_message_bytes=max_message_bytes,
    )
