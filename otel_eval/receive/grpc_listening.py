"""What every gRPC listener of ours does alike: binding, TLS, and reading the token that a caller shows."""

from __future__ import annotations

from typing import Any, TypeAlias

import grpc
import grpc.aio

from otel_eval.receive.listener import Listener, ReceiverError, endpoint

Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]


def bind(server: grpc.aio.Server, listener: Listener) -> str:
    """Have the server listen there; the address with the port that was bound. Raises ReceiverError."""
    host, port = listener.address()
    wanted = endpoint(host, port)
    try:
        bound = (
            server.add_secure_port(wanted, _credentials(listener)) if listener.tls else server.add_insecure_port(wanted)
        )
    except RuntimeError as error:
        raise ReceiverError(f"cannot listen on {wanted} (gRPC): is the address ours, and free?") from error
    return endpoint(host, bound)


def authorization(context: Context) -> str | None:
    """The header's value; None where there is none."""
    for key, value in context.invocation_metadata() or ():
        if key == "authorization":
            return value if isinstance(value, str) else None
    return None


def _credentials(listener: Listener) -> grpc.ServerCredentials:
    assert listener.certificate is not None
    assert listener.key is not None
    try:
        pair = (listener.key.read_bytes(), listener.certificate.read_bytes())
        client_ca = None if listener.client_ca is None else listener.client_ca.read_bytes()
    except OSError as error:
        raise ReceiverError(f"{listener.endpoint}: cannot read {error.filename}: {error.strerror}") from error
    return grpc.ssl_server_credentials([pair], client_ca, require_client_auth=client_ca is not None)
