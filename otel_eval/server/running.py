"""The running server: the stages, wired together. ``otel-eval serve`` and the test kit both start this one.

::

    receivers -> journal -> pipeline -> dispatcher -> ledger -> outbox -> exporter
                    |
                    +-> relay -> forwarder (where forwarding is configured)

Each stage is closed before those that it hands on to: receivers, relay, pipeline, dispatcher, judges, outbox, ledger,
journal. So nothing is acknowledged that the journal does not hold, and what is under way ends where it can be kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

from otel_eval.assemble.completion import CompletionSettings
from otel_eval.clock import Clock, SystemClock
from otel_eval.config import Config, ConfigError
from otel_eval.config.build import build_evaluators, build_judges, missing_judge_models, redaction
from otel_eval.config.sections import GrpcListener, HttpListener, OtlpDestination
from otel_eval.conventions.registry import default_registry
from otel_eval.dispatch import Accepted, Dispatcher
from otel_eval.emit.emission import Emission, EmissionSettings
from otel_eval.emit.endpoints import same_listener
from otel_eval.emit.forwarding import Forwarder
from otel_eval.emit.settings import ExporterSettings
from otel_eval.journal import Journal
from otel_eval.judges import CompletionFunction
from otel_eval.ledger import AsyncLedger
from otel_eval.ledger.model import Stored
from otel_eval.loop_guard import LoopGuard
from otel_eval.pipeline import Pipeline, Relay
from otel_eval.pipeline.forgetting import Forgotten, Wanted, forget
from otel_eval.receive.grpc_server import GrpcReceiver
from otel_eval.receive.http_server import HttpReceiver
from otel_eval.receive.intake import Intake
from otel_eval.receive.listener import Listener
from otel_eval.server.control import answering
from otel_eval.server.stages import watched
from otel_eval.server.storage import StorageError, loop_guard, prepare

STOP_RECEIVING_S = 5.0
"""How long requests in flight may take when the server stops."""


class ServerError(Exception):
    """The server cannot start; the message can be shown as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Whom to tell what happens, on the event loop: must not block or raise."""

    accepted: Callable[[Sequence[Accepted]], None] | None = None
    stored: Callable[[tuple[Stored, ...]], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that runs. ``grpc`` and ``http`` are the addresses that it listens on, None where it does not.

    ``exports_to`` are the endpoints that verdicts go to; none: they stay in the ledger.
    """

    grpc: str | None
    http: str | None
    exports_to: tuple[str, ...]
    journal: Journal
    ledger: AsyncLedger
    dispatcher: Dispatcher
    pipeline: Pipeline

    @property
    def endpoints(self) -> tuple[str, ...]:
        """Every address that it listens on."""
        return tuple(address for address in (self.grpc, self.http) if address is not None)


@contextlib.asynccontextmanager
async def running(
    config: Config,
    *,
    clock: Clock | None = None,
    complete: CompletionFunction | None = None,
    watching: Watching | None = None,
    environ: Mapping[str, str] = os.environ,
) -> AsyncIterator[Server]:
    """Start every stage, yield once requests are taken, and stop cleanly: what was accepted is kept.

    ``complete`` answers instead of any configured judge model. If a stage dies, the block is cancelled and StageDied
    raised. Raises ConfigError, ServerError, JournalError, LedgerError or ReceiverError where it cannot start.
    """
    clock = clock or SystemClock()
    watching = watching or Watching()
    if complete is None and (mistakes := missing_judge_models(config)):
        raise ConfigError(list(mistakes))
    evaluators = build_evaluators(config)
    await asyncio.to_thread(_load_conventions)
    directory, guard = await asyncio.to_thread(_storage, config)
    async with contextlib.AsyncExitStack() as stack:
        stages = await stack.enter_async_context(watched())
        emission = Emission(
            _emission_of(config, directory),
            guard=guard,
            version=metadata.version("otel-eval"),
            redact=redaction(config).text,
            environ=environ,
        )
        stack.push_async_callback(asyncio.to_thread, emission.close)
        forwards_to = exporter_of(config.forward.otlp)
        destinations = _destinations(emission, forwards_to)
        _refuse_own_listeners(destinations, config)
        recorder = emission.recorder
        journal = await stack.enter_async_context(
            await Journal.open(directory, clock=clock, max_bytes=config.storage.max_journal_bytes, recorder=recorder)
        )
        ledger = await stack.enter_async_context(
            await AsyncLedger.open(config.ledger_url, outbox=emission.exports_verdicts)
        )
        await stack.enter_async_context(emission.running(ledger, clock, died=partial(stages.end, "the outbox")))
        judges = build_judges(
            config, clock=clock, recorder=recorder, guard=guard, budget_store=ledger, complete=complete
        )
        stack.push_async_callback(judges.aclose)
        if watching.stored is not None:
            stack.enter_context(ledger.listening(watching.stored))
        dispatcher = await stack.enter_async_context(
            Dispatcher(
                config=config,
                evaluators=evaluators,
                ledger=ledger,
                guard=guard,
                clock=clock,
                recorder=recorder,
                judges=judges,
                listener=watching.accepted,
            )
        )
        pipeline = Pipeline(
            journal=journal,
            accept=dispatcher.accept,
            guard=guard,
            clock=clock,
            recorder=recorder,
            settings=CompletionSettings(**config.completion.model_dump()),
            known_traces=ledger.known_traces,
            forwarding=forwards_to is not None,
            keep=config.role_attributes,
        )
        await stack.enter_async_context(stages.running("the pipeline", pipeline.run()))
        relay: Relay | None = None
        if forwards_to is not None:
            forwarder = await stack.enter_async_context(Forwarder(forwards_to, clock=clock, recorder=recorder))
            relay = Relay(journal=journal, deliver=forwarder.deliver, clock=clock, progress=pipeline.forwarded)
            await stack.enter_async_context(stages.running("forwarding", relay.run()))
        await stack.enter_async_context(_control(directory, ledger, journal, pipeline, relay))
        receivers = _receivers(config, Intake(journal, recorder=recorder, forwarding=forwards_to is not None))
        for receiver in receivers:
            await receiver.start()
            stack.push_async_callback(receiver.stop, STOP_RECEIVING_S)
        endpoints = {type(receiver): receiver.endpoint for receiver in receivers}
        _refuse_bound_listeners(destinations, tuple(endpoints.values()))
        stack.enter_context(stages.stopping())
        yield Server(
            grpc=endpoints.get(GrpcReceiver),
            http=endpoints.get(HttpReceiver),
            exports_to=emission.endpoints,
            journal=journal,
            ledger=ledger,
            dispatcher=dispatcher,
            pipeline=pipeline,
        )


def listener_of(section: GrpcListener | HttpListener) -> Listener:
    """A listener's settings, as the receivers take them."""
    tls, token = section.tls, section.auth.bearer_token
    return Listener(
        endpoint=section.endpoint,
        certificate=None if tls is None else Path(tls.cert_file),
        key=None if tls is None else Path(tls.key_file),
        client_ca=None if tls is None or tls.client_ca_file is None else Path(tls.client_ca_file),
        token=None if token is None else token.get_secret_value(),
        max_message_bytes=section.max_message_bytes,
    )


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


def _storage(config: Config) -> tuple[Path, LoopGuard]:
    key = config.loop_guard.key
    try:
        directory = prepare(config.storage_directory)
        return directory, loop_guard(directory, None if key is None else key.get_secret_value())
    except StorageError as error:
        raise ServerError(str(error)) from error


def _load_conventions() -> None:
    """At the start, rather than at the first span: those of other packages may be broken."""
    try:
        default_registry()
    except Exception as error:  # importing what others wrote may raise anything
        raise ServerError(
            f"a convention of the entry-point group otel_eval.conventions cannot be loaded: {type(error).__name__}: {error}"
        ) from error


def _control(
    directory: Path, ledger: AsyncLedger, journal: Journal, pipeline: Pipeline, relay: Relay | None
) -> contextlib.AbstractAsyncContextManager[None]:
    async def delete(wanted: Wanted) -> Forgotten:
        return await forget(wanted, ledger=ledger, journal=journal, pipeline=pipeline, relay=relay)

    return answering(directory, delete)


def _emission_of(config: Config, directory: Path) -> EmissionSettings:
    return EmissionSettings(
        exporter=exporter_of(config.exporters.otlp),
        child_within_ns=int(config.emit.child_within * 1e9),
        max_agents=config.emit.max_agents,
        content=config.emit.content,
        metrics_interval_s=config.emit.metrics_interval,
        instance=str(directory),
    )


def _receivers(config: Config, intake: Intake) -> list[GrpcReceiver | HttpReceiver]:
    otlp = config.receivers.otlp
    receivers: list[GrpcReceiver | HttpReceiver] = []
    if otlp.grpc.enabled:
        receivers.append(GrpcReceiver(intake, listener_of(otlp.grpc)))
    if otlp.http.enabled:
        receivers.append(HttpReceiver(intake, listener_of(otlp.http)))
    return receivers


def _destinations(emission: Emission, forwards_to: ExporterSettings | None) -> dict[str, str]:
    """Every endpoint that something is sent to, with the key that says so."""
    exporters = "exporters.otlp.endpoint (or OTEL_EXPORTER_OTLP_ENDPOINT)"
    destinations = dict.fromkeys(emission.endpoints, exporters)
    return destinations if forwards_to is None else {**destinations, forwards_to.endpoint: "forward.otlp.endpoint"}


def _refuse_own_listeners(destinations: Mapping[str, str], config: Config) -> None:
    otlp = config.receivers.otlp
    _refuse_bound_listeners(destinations, [each.endpoint for each in (otlp.grpc, otlp.http) if each.enabled])


def _refuse_bound_listeners(destinations: Mapping[str, str], listeners: Sequence[str]) -> None:
    for endpoint, key in destinations.items():
        if same_listener(endpoint, listeners):
            raise ServerError(
                f"telemetry would be sent to {endpoint}, which is a listener of this server, and come straight back: "
                f"set {key} to the collector's"
            )
