"""The section of the file about our own gRPC service over the ledger."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from otel_eval.config.numbers import whole
from otel_eval.config.sections import MEBIBYTE, ServerTls, long_enough
from otel_eval.config.values import Flag, ListenAddress, Secret, Section, refuse, texts

Scope: TypeAlias = Literal["read", "evaluate"]


def _some(scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
    if not scopes:
        raise refuse("read, evaluate or both: a token without a scope is good for nothing")
    return scopes


Scopes: TypeAlias = Annotated[tuple[Scope, ...], BeforeValidator(texts, json_schema_input_type=Scope | list[Scope])]


class ApiToken(Section):
    """A token and what it is good for."""

    token: Annotated[Secret, AfterValidator(long_enough)]
    """A secret of 16 characters or more, which no receiver and no other token has (`"${env:OTEL_EVAL_API_TOKEN}"`)."""
    scopes: Annotated[Scopes, AfterValidator(_some)]
    """`read`: Interactions and evaluations. `evaluate`: having them judged again. Neither includes the other."""


class ApiAuth(Section):
    """Who may call what."""

    tokens: dict[str, ApiToken] = Field(default_factory=dict)
    """Tokens by a name of yours, which the log says: callers say `Authorization: Bearer <token>`."""
    without_token: Scopes = ()
    """The scopes of those who show no token: for loopback, or where `tls.client_ca_file` decides who may connect."""


class Api(Section):
    """Our own gRPC service over the ledger (docs/api.md): reading it, following it, judging again. Off by default, and on a
    listener of its own: who may send telemetry may not read conversations."""

    enabled: Flag = False
    """`true` listens; it needs tokens, or `auth.without_token`."""
    endpoint: ListenAddress = "127.0.0.1:4319"
    """Where to listen; port 0 takes a free one."""
    tls: ServerTls | None = None
    """Plain text without it."""
    auth: ApiAuth = ApiAuth()
    max_message_bytes: Annotated[int, whole(1024, 64 * MEBIBYTE)] = MEBIBYTE
    """The largest request. Pages of answers end before 4 MiB, gRPC clients' usual limit; one Interaction may be larger."""
    max_concurrent_calls: Annotated[int, whole(2, 10_000)] = 64
    """Calls that run at the same time; at most half of them follow the ledger (`WatchEvaluations`)."""
