"""Where a receiver listens, and whom it lets in."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from pathlib import Path

from otel_eval.receive.refusal import Code, Refused

DEFAULT_MAX_MESSAGE_BYTES = 64 << 20
"""A single model span exceeds 100 KB, a batch exceeds gRPC's usual 4 MiB: generous, and still a bound."""


class ReceiverError(Exception):
    """A receiver cannot start: the address is taken, a certificate cannot be read, settings contradict each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """One listener's settings.

    ``endpoint`` is ``host:port`` (IPv6 in brackets; port 0: any free one). ``certificate`` and ``key`` (PEM files) turn
    TLS on, ``client_ca`` beside them asks clients for certificates (mTLS). ``token``: senders have to show it as
    ``Authorization: Bearer <token>``. ``max_message_bytes`` bounds a request, before and after it is decompressed.
    """

    endpoint: str
    certificate: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    token: str | None = field(default=None, repr=False)
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES

    def __post_init__(self) -> None:
        self.address()
        if (self.certificate is None) != (self.key is None):
            raise ReceiverError(f"{self.endpoint}: TLS needs a certificate and its key, one of them is missing")
        if self.client_ca is not None and self.certificate is None:
            raise ReceiverError(f"{self.endpoint}: a client CA needs TLS: a certificate and its key")
        if self.token is not None and not self.token.strip():
            raise ReceiverError(f"{self.endpoint}: the token is empty: leave it out to let everybody in")

    @property
    def tls(self) -> bool:
        return self.certificate is not None

    def address(self) -> tuple[str, int]:
        """Host and port. Raises :class:`ReceiverError` where the endpoint is no ``host:port``."""
        host, colon, port = self.endpoint.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        if not (colon and bare and port.isdecimal() and int(port) < 65536) or (":" in bare and bare == host):
            raise ReceiverError(f"{self.endpoint!r} is not an endpoint: host:port is expected, such as 127.0.0.1:4317")
        return bare, int(port)

    def admit(self, authorization: str | None) -> None:
        """Raises :class:`Refused` for a sender that does not show the token."""
        if self.token is None:
            return
        scheme, _, shown = (authorization or "").partition(" ")
        same = hmac.compare_digest(shown.strip().encode(), self.token.encode())
        if scheme.lower() != "bearer" or not same:
            raise Refused(Code.UNAUTHENTICATED, "a bearer token is asked for")


def endpoint(host: str, port: int) -> str:
    """``host:port``, with the brackets that IPv6 needs."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
