"""A real server in a test: free ports, a directory of its own, quick to settle, and something to wait for."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from otel_eval.clock import Clock
from otel_eval.config import Config, load, parse
from otel_eval.dispatch import Accepted
from otel_eval.interaction import Interaction
from otel_eval.judges import CompletionFunction
from otel_eval.ledger.model import Stored
from otel_eval.record import EvaluationRecord
from otel_eval.server.running import Server
from otel_eval.server.running import running as server_running
from otel_eval.server.watching import Watching


class RunningServer:
    """A server under test. Everything it stores is in ``interactions`` and ``records`` too, in the order of storing."""

    def __init__(self) -> None:
        self.interactions: list[Interaction] = []
        self.records: list[EvaluationRecord] = []
        self._expected: dict[str, int] = {}
        self._ended: Counter[str] = Counter()
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: Server | None = None

    @property
    def server(self) -> Server:
        """The server itself: its ledger, its journal, its addresses."""
        assert self._server is not None
        return self._server

    @property
    def grpc_endpoint(self) -> str:
        """For ``OTEL_EXPORTER_OTLP_ENDPOINT`` over gRPC: ``http://127.0.0.1:<port>``."""
        return f"http://{self.server.grpc}"

    @property
    def http_endpoint(self) -> str:
        """The same over HTTP; ``/v1/traces`` is for the exporter to append."""
        return f"http://{self.server.http}"

    @property
    def api_endpoint(self) -> str:
        """``127.0.0.1:<port>`` of the API, which the configuration switches on (``api.enabled``)."""
        assert self.server.api is not None, "api.enabled is not true"
        return self.server.api

    async def wait_for_interactions(self, count: int = 1, timeout: float = 30) -> list[Interaction]:  # noqa: ASYNC109
        """The Interactions stored so far, once there are that many. Raises TimeoutError."""
        await self._wait(lambda: len(self.interactions) >= count, timeout)
        return list(self.interactions)

    async def wait_for_evaluations(self, interaction_id: str, timeout: float = 30) -> list[EvaluationRecord]:  # noqa: ASYNC109
        """The records of that Interaction, newest first, once every evaluator bound to it has ended. Raises TimeoutError."""
        await self._wait(
            lambda: interaction_id in self._expected and self._ended[interaction_id] >= self._expected[interaction_id],
            timeout,
        )
        return list(await self.server.ledger.evaluations(interaction_id))

    async def _wait(self, done: Callable[[], bool], seconds: float) -> None:
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(done)

    def _accepted(self, accepted: Sequence[Accepted]) -> None:
        for each in accepted:
            self.interactions.append(each.interaction)
            self._expected[each.interaction.id] = len(each.records) + len(each.waiting)
            if each.revision > 1:
                self._ended[each.interaction.id] = len(each.records)
        self._tell()

    def _stored(self, stored: tuple[Stored, ...]) -> None:
        for each in stored:
            self.records.append(each.record)
            self._ended[each.record.interaction_id] += 1
        self._tell()

    def _tell(self) -> None:
        async def tell() -> None:
            async with self._changed:
                self._changed.notify_all()

        task = asyncio.ensure_future(tell())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@contextlib.asynccontextmanager
async def running(
    config: Config | Mapping[str, Any] | str | Path,
    *,
    complete: CompletionFunction | None = None,
    clock: Clock | None = None,
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[RunningServer]:
    """Run a server with that configuration: a mapping, YAML text, the path of a file, or what ``load`` gave.

    Where a mapping or text does not say, it listens on free ports, keeps its data in a directory that goes with the
    block, and settles in a fifth of a second. ``complete`` answers instead of any judge model. The environment's OTLP
    variables are not read unless ``environ`` is given: a test does not export by accident.
    """
    with tempfile.TemporaryDirectory(prefix="otel-eval-") as directory:
        running_server = RunningServer()
        watching = Watching(accepted=running_server._accepted, stored=running_server._stored)
        settings = _settings(config, directory)
        async with server_running(
            settings, clock=clock, complete=complete, watching=watching, environ=environ or {}
        ) as server:
            running_server._server = server
            yield running_server


def _settings(config: Config | Mapping[str, Any] | str | Path, directory: str) -> Config:
    if isinstance(config, Config):
        return config
    if isinstance(config, Path):
        return load(config)
    given = yaml.safe_load(config) if isinstance(config, str) else config
    defaults = {
        "receivers": {"otlp": {"grpc": {"endpoint": "127.0.0.1:0"}, "http": {"endpoint": "127.0.0.1:0"}}},
        "api": {"endpoint": "127.0.0.1:0"},
        "storage": {"directory": directory},
        "completion": {"settle": "200ms", "settle_across_processes": "500ms"},
    }
    return parse(_merged(defaults, given or {}))


def _merged(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(defaults)
    for key, value in given.items():
        known = merged.get(key)
        merged[key] = _merged(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return merged
