"""What every gRPC listener of ours does alike: binding, TLS, and reading the token that a caller shows."""

from __future__ import annotations

import socket
from typing import Any, TypeAlias

import grpc
import grpc.aio

from otel_eval.receive.listener import Listener, ReceiverError, endpoint

Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]


def bind(server: grpc.aio.Server, listener: Listener) -> str:
    """Have the server listen there; the address with the port that was bound. Raises ReceiverError."""
    host, port = listener.address()
    wanted = endpoint(host, port)
    _refuse_taken(host, port)
    try:
        bound = (
            server.add_secure_port(wanted, _credentials(listener)) if listener.tls else server.add_insecure_port(wanted)
        )
    except RuntimeError as error:
        tls = ", and do the certificate and the key belong together" if listener.tls else ""
        raise ReceiverError(f"cannot listen on {wanted} (gRPC): is the address ours, and free{tls}?") from error
    return endpoint(host, bound)


def _refuse_taken(host: str, port: int) -> None:
    """Raises :class:`ReceiverError` where none of the host's addresses can be listened on, with the system's reason.

    gRPC would notice as well, after a line of its own on standard error that only its environment variables keep back.
    """
    reason: OSError | None = None
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            try:
                with socket.socket(family, kind, protocol) as tried:
                    tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    tried.bind(address)
                    return
            except OSError as error:
                reason = error
    except OSError as error:  # no such host
        reason = error
    if reason is not None:
        raise ReceiverError(f"cannot listen on {endpoint(host, port)} (gRPC): {reason.strerror}") from reason


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
