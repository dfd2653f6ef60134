"""What lies behind the journal, wired together: for a server in one process, and for the judging process of two.

::

    journal -> pipeline -> dispatcher -> ledger -> outbox -> exporter
       |
       +-> relay -> forwarder (where forwarding is configured)

Each stage is closed before those that it hands on to: the API, relay, pipeline, dispatcher, judges, outbox, ledger, journal.
So what is under way ends where it can be kept. What hangs has its time side by side: an export, while evaluations have
theirs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Generic, TypeVar

from otel_eval.assemble.completion import CompletionSettings
from otel_eval.clock import Clock
from otel_eval.config import Config, ConfigError
from otel_eval.config.build import build_evaluators, build_judges, missing_judge_models, redaction
from otel_eval.conventions.registry import default_registry
from otel_eval.crashes import Caution
from otel_eval.dispatch import Dispatcher
from otel_eval.emit.emission import Emission, EmissionSettings
from otel_eval.emit.forwarding import Forwarder
from otel_eval.emit.settings import ExportSettingsError
from otel_eval.evaluators.contract import Evaluator
from otel_eval.instruments import Recorder
from otel_eval.journal import Consumer
from otel_eval.journal import lock as journal_lock
from otel_eval.journal import schema as journal_schema
from otel_eval.judges import CompletionFunction
from otel_eval.ledger import AsyncLedger
from otel_eval.pipeline import Pipeline, Relay
from otel_eval.pipeline.forgetting import Forgotten, Wanted, forget
from otel_eval.server.api_listening import serving_api
from otel_eval.server.control import answering
from otel_eval.server.errors import ServerError
from otel_eval.server.presence import Presence, kept_in_place
from otel_eval.server.retention import Retention
from otel_eval.server.sending import destinations_of, exporter_of, refuse_own_listeners
from otel_eval.server.stages import Stages
from otel_eval.server.storage import loop_guard
from otel_eval.server.watching import Watching

C = TypeVar("C", bound=Consumer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to run, checked as far as that goes without a directory."""

    config: Config
    evaluators: Mapping[str, Evaluator]
    complete: CompletionFunction | None
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging(Generic[C]):
    """All that runs behind the journal. ``destinations``: what is sent to, with the key that says so.

    ``exports_to`` are the endpoints that verdicts go to; none: they stay in the ledger. ``api``: where our own service
    listens, if it does. ``start`` lets it read and evaluate, once whoever waits for it knows that it is up.
    """

    journal: C
    ledger: AsyncLedger
    dispatcher: Dispatcher
    pipeline: Pipeline
    recorder: Recorder
    destinations: Mapping[str, str]
    exports_to: tuple[str, ...]
    api: str | None
    start: Callable[[], None]


async def plan(config: Config, *, complete: CompletionFunction | None, environ: Mapping[str, str]) -> Plan:
    """Make the evaluators and load the conventions, those of users included. Raises ConfigError or ServerError."""
    if complete is None and (mistakes := missing_judge_models(config)):
        raise ConfigError(list(mistakes))
    evaluators = build_evaluators(config)
    await asyncio.to_thread(_load_conventions)
    return Plan(config=config, evaluators=evaluators, complete=complete, environ=environ)


@contextlib.asynccontextmanager
async def judging(
    plan: Plan,
    *,
    directory: Path,
    open_journal: Callable[[Recorder], Awaitable[C]],
    stages: Stages,
    clock: Clock,
    watching: Watching,
    api_endpoint: str | None = None,
) -> AsyncIterator[Judging[C]]:
    """Run everything behind the journal for the block, and close it in good order.

    ``directory`` is ours already, and stock was taken of how the last process that judged there ended.
    ``api_endpoint``: where an earlier life's API listened. Raises ConfigError, ServerError, JournalError or LedgerError
    where it cannot start.
    """
    config = plan.config
    guard = await asyncio.to_thread(loop_guard, config, directory)
    async with contextlib.AsyncExitStack() as stack:
        with _as_server_error():
            emission = Emission(
                _emission_of(config, directory),
                guard=guard,
                version=metadata.version("otel-eval"),
                redact=redaction(config).text,
                environ=plan.environ,
            )
            stack.push_async_callback(asyncio.to_thread, emission.close)
            forwards_to = exporter_of(config.forward.otlp)
        destinations = destinations_of(emission.endpoints, forwards_to)
        refuse_own_listeners(destinations, config)
        recorder = emission.recorder
        journal = await open_journal(recorder)
        stack.push_async_callback(journal.close)
        caution = await asyncio.to_thread(
            partial(Caution.begin, directory, at_once=config.dispatch.max_concurrency, clock=clock)
        )
        stack.callback(caution.close)
        ledger = await stack.enter_async_context(
            await AsyncLedger.open(config.ledger_url, outbox=emission.exports_verdicts)
        )
        await stack.enter_async_context(kept_in_place(_files(directory, ledger), stages=stages, clock=clock))
        await stack.enter_async_context(emission.running(ledger, clock, died=partial(stages.end, "the outbox")))
        judges = build_judges(
            config, clock=clock, recorder=recorder, guard=guard, budget_store=ledger, complete=plan.complete
        )
        stack.push_async_callback(judges.aclose)
        if watching.stored is not None:
            stack.enter_context(ledger.listening(watching.stored))
        dispatcher = await stack.enter_async_context(
            Dispatcher(
                config=config,
                evaluators=plan.evaluators,
                ledger=ledger,
                guard=guard,
                clock=clock,
                recorder=recorder,
                judges=judges,
                listener=watching.accepted,
                caution=caution,
            )
        )
        pipeline = Pipeline(
            journal=journal,
            accept=dispatcher.accept,
            guard=guard,
            clock=clock,
            recorder=recorder,
            settings=CompletionSettings(**config.completion.model_dump()),
            told_of=ledger.told_of,
            forwarding=forwards_to is not None,
            keep=config.role_attributes,
            caution=caution,
        )
        await stack.enter_async_context(stages.running("the pipeline", pipeline.run()))
        relay: Relay | None = None
        if forwards_to is not None:
            with _as_server_error():
                forwarder = Forwarder(forwards_to, clock=clock, recorder=recorder)
            await stack.enter_async_context(forwarder)
            relay = Relay(journal=journal, deliver=forwarder.deliver, clock=clock, progress=pipeline.forwarded)
            await stack.enter_async_context(stages.running("forwarding", relay.run()))
        await stack.enter_async_context(_control(directory, ledger, journal, pipeline, relay))
        if config.storage.retention is not None:
            retention = Retention(
                config.storage.retention, ledger=ledger, journal=journal, clock=clock, recorder=recorder
            )
            await stack.enter_async_context(stages.running("retention", retention.run()))
        api = await stack.enter_async_context(
            serving_api(
                config.api,
                ledger=ledger,
                dispatcher=dispatcher,
                clock=clock,
                recorder=recorder,
                endpoint=api_endpoint,
            )
        )
        stack.callback(emission.stopping)  # an exporter that hangs has its time beside judges that do
        yield Judging(
            journal=journal,
            ledger=ledger,
            dispatcher=dispatcher,
            pipeline=pipeline,
            recorder=recorder,
            destinations=destinations,
            exports_to=emission.endpoints,
            api=api,
            start=caution.start,
        )


@contextlib.contextmanager
def _as_server_error() -> Iterator[None]:
    """What a check before the start found in order may be gone: a file with a certificate, say."""
    try:
        yield
    except ExportSettingsError as error:
        raise ServerError(str(error)) from error


def _files(directory: Path, ledger: AsyncLedger) -> Presence:
    file = ledger.ledger.file
    return Presence(
        [directory / journal_schema.FILE, *([] if file is None else [file])], beside=[directory / journal_lock.FILE]
    )


def _load_conventions() -> None:
    """At the start, rather than at the first span: those of other packages may be broken."""
    try:
        default_registry()
    except Exception as error:  # importing what others wrote may raise anything
        raise ServerError(
            f"a convention of the entry-point group otel_eval.conventions cannot be loaded: {type(error).__name__}: {error}"
        ) from error


def _control(
    directory: Path, ledger: AsyncLedger, journal: Consumer, pipeline: Pipeline, relay: Relay | None
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
