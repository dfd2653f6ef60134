"""The sections of the file about the pipeline itself: what comes in, what is kept, what goes out."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from otel_eval.config.numbers import Duration, Period, Timeout, whole, within
from otel_eval.config.values import (
    Endpoint,
    Flag,
    HeaderName,
    ListenAddress,
    MarkerName,
    Regex,
    Secret,
    SecretText,
    Section,
    Text,
    refuse,
)


def long_enough(key: SecretStr) -> SecretStr:
    """Refuse a secret that could be guessed."""
    if len(key.get_secret_value().strip()) < 16:
        raise refuse("a secret of 16 characters or more")
    return key


def _ledger_url(url: SecretStr) -> SecretStr:
    if re.match(r"(?:sqlite|postgres(?:ql)?)(?:\+\w+)?://", url.get_secret_value()) is None:
        raise refuse("a URL of SQLite or PostgreSQL, as sqlite:///ledger.db or postgresql://user@host/name")
    if re.match(r"sqlite(?:\+\w+)?://(?:/?$|/?\?|.*:memory:|.*mode=memory)", url.get_secret_value()):
        raise refuse("a file of SQLite's, as sqlite:///ledger.db: what is in memory is gone with its process")
    return url


MEBIBYTE = 1024 * 1024


class ServerTls(Section):
    """TLS of a listener; with `client_ca_file` clients must show a certificate (mTLS)."""

    cert_file: Text
    """PEM file with the certificate chain."""
    key_file: Text
    """PEM file with the private key."""
    client_ca_file: Text | None = None
    """PEM file with the authorities that client certificates must come from."""


class ClientTls(Section):
    """TLS of a connection that we open."""

    ca_file: Text | None = None
    """PEM file with the authorities to trust; else the system's."""
    cert_file: Text | None = None
    """PEM file with our client certificate."""
    key_file: Text | None = None
    """PEM file with its private key."""


class ReceiverAuth(Section):
    """Who may send."""

    bearer_token: Secret | None = None
    """Senders must say `Authorization: Bearer <token>`; without it anybody who reaches the listener may send."""


class Listener(Section):
    """What both OTLP listeners have in common."""

    enabled: Flag = True
    """`false` listens on HTTP or gRPC alone."""
    max_message_bytes: Annotated[int, whole(1024, 2**31 - 1)] = 64 * MEBIBYTE
    """The largest request, after decompression; a larger one is refused before it is expanded."""
    tls: ServerTls | None = None
    """Plain text without it."""
    auth: ReceiverAuth = ReceiverAuth()


class GrpcListener(Listener):
    """OTLP over gRPC."""

    endpoint: ListenAddress = "127.0.0.1:4317"
    """Where to listen; port 0 takes a free one."""


class HttpListener(Listener):
    """OTLP over HTTP, protobuf and JSON."""

    endpoint: ListenAddress = "127.0.0.1:4318"
    """Where to listen; port 0 takes a free one."""


class OtlpReceiver(Section):
    """The OTLP receiver."""

    grpc: GrpcListener = GrpcListener()
    http: HttpListener = HttpListener()


class Receivers(Section):
    """How telemetry comes in."""

    otlp: OtlpReceiver = OtlpReceiver()


class OtlpDestination(Section):
    """An OTLP endpoint that we send to."""

    endpoint: Endpoint
    """`http://collector:4317`, `https://…` or `host:port`."""
    protocol: Literal["grpc", "http/protobuf"] = "grpc"
    """How to speak to it."""
    headers: dict[HeaderName, Secret] = Field(default_factory=dict)
    """Sent with every request; their values are secrets."""
    tls: ClientTls = ClientTls()
    compression: Literal["gzip", "none"] = "gzip"
    """Compression of requests."""
    timeout: Timeout = 10.0
    """How long one export may take before it is tried again."""


class Exporters(Section):
    """Where verdicts go."""

    otlp: OtlpDestination | None = None
    """Without it `OTEL_EXPORTER_OTLP_*` decides; without those verdicts stay in the ledger, which is said once at start."""


class Forward(Section):
    """Sends the original telemetry on, unchanged, so that otel-eval can stand between an agent and its collector.
    Metrics, and logs that belong to no trace, are taken then too. The senders' own headers stay here, as their tokens are
    for us: what the next endpoint asks for stands in `headers`. The journal keeps what is not yet forwarded, in order:
    while the next endpoint is down it waits there, up to `storage.max_journal_bytes`; a crash may repeat the last second of
    it."""

    otlp: OtlpDestination | None = None
    """Nothing is forwarded without it."""


class Storage(Section):
    """Where the journal is, and the ledger unless `ledger.url` says otherwise. One process holds it."""

    directory: Text = "./otel-eval-data"
    """Made with mode 0700 where there is none, and those above it. One of our own that others may enter is closed to
    them; one that holds other files and that others may enter is refused."""
    max_journal_bytes: Annotated[int, whole(MEBIBYTE, 2**50)] = 1024 * MEBIBYTE
    """Acknowledged telemetry not yet put together, or not yet forwarded; above it senders are asked to come back later."""
    retention: Annotated[float, within("1h", "36500d")] | None = None
    """How long Interactions and their records are kept after they ended (`30d`); for ever without it. What waits to be judged
    or exported is kept until it is."""


class Server(Section):
    """How `otel-eval serve` runs."""

    processes: Annotated[int, whole(1, 2)] = 2
    """`2`: one process takes telemetry in, a second one judges, so that a backlog does not slow the first down. `1`: one does
    both, with some 40 MB of memory less."""


class LoopGuard(Section):
    """How the telemetry of our own judges is known when it comes back, so that it is never judged."""

    key: Annotated[SecretText, AfterValidator(long_enough)] | None = None
    """A secret of 16 characters or more, the same for all replicas whose telemetry meets
    (`"${env:OTEL_EVAL_LOOP_GUARD_KEY}"`). Else one is made in `storage.directory`, in the file `loop-guard.key`; its
    content may be given here."""


class Ledger(Section):
    """Where Interactions and evaluation records are kept."""

    url: Annotated[Secret, AfterValidator(_ledger_url)] | None = None
    """An SQLAlchemy URL; else an SQLite file `ledger.db` in `storage.directory`. The directory that an SQLite file lies in is
    made (0700) where there is none, those above it are not: a path that leads through nothing stops the start, as a misspelt
    one should. A secret, as it may hold a password."""


class Completion(Section):
    """When an Interaction is complete."""

    settle: Duration = 2.0
    """Quiet after the agent span, where nothing is missing and all spans came from one process."""
    settle_across_processes: Duration = 7.0
    """The same where several processes took part: their SDKs export every 5 s."""
    idle: Period = 300.0
    """Quiet after which a trace with a parent that never came is put together all the same."""
    max_age: Period = 3600.0
    """The longest that an Interaction is kept open after its last activity."""
    late_window: Duration = 900.0
    """How long late spans still make a new revision; looked at once a minute, so up to a minute longer."""


class Dispatch(Section):
    """How evaluations are run."""

    max_concurrency: Annotated[int, whole(1, 10_000)] = 32
    """Evaluations that ask a model and run at the same time, over all judge models."""
    max_wait: Duration = 3600.0
    """How long the backlog of a judge model that is down is kept before it ends inconclusive."""
    evaluator_timeout: Timeout = 60.0
    """How long one custom evaluator (`use:`) may take."""
    shutdown_grace: Duration = 10.0
    """How long running evaluations may finish when the server stops; the others are kept and resumed."""
    unmatched_after: Duration = 600.0
    """When a binding has matched nothing for this long while agents were seen, it says so."""


class Emit(Section):
    """How verdicts are written into the telemetry."""

    child_within: Duration = 300.0
    """Up to this long after the Interaction's end an evaluation span is a child of the agent span; later it gets a trace
    of its own with a link."""
    max_agents: Annotated[int, whole(1, 10_000)] = 200
    """Distinct agent names in metric labels; the rest is `other`."""
    content: Flag = True
    """Whether explanations and the judge's messages are exported; the ledger keeps them either way."""
    metrics_interval: Annotated[float, within("100ms", "1h")] = 15.0
    """How often metrics are exported."""


class Redaction(Section):
    """What is taken out before anything leaves: what a judge is sent, explanations that are exported."""

    builtin: tuple[Literal["api_key", "email", "iban", "payment_card", "phone"], ...] = (
        "api_key",
        "email",
        "iban",
        "payment_card",
        "phone",
    )
    """Which of the built-in patterns are on; `[]` for none."""
    patterns: dict[MarkerName, Regex] = Field(default_factory=dict)
    """Patterns of your own: a type name, which the marker will show, and a regular expression."""
