"""A journal entry as the assembler takes it in. Whatever it holds, the next one is read: what cannot be read costs itself."""

from __future__ import annotations

import logging
from collections.abc import Collection

from otel_eval.assemble.nodes import Node, join, observe, ordinary
from otel_eval.assemble.own_telemetry import OwnTelemetry
from otel_eval.conventions.facts import Note
from otel_eval.conventions.registry import default_registry
from otel_eval.crashes import DiedBefore
from otel_eval.instruments import Recorder
from otel_eval.journal import Request
from otel_eval.loop_guard import LoopGuard
from otel_eval.receive.decode import MalformedRequest, decode_logs, sift_traces
from otel_eval.receive.refusal import Refused
from otel_eval.receive.sieve import Sieve
from otel_eval.receive.soundness import salvage
from otel_eval.signals import LogRecord, OrdinarySpan, Span

log = logging.getLogger("otel_eval.pipeline")

REGISTRY = "otel_eval.conventions.registry"


class UnreadableRequest(Exception):
    """Nothing of the request can be read; the message says why."""


class Reader:
    """Decodes requests and reads their spans and log records by the conventions, our own telemetry left out."""

    def __init__(self, guard: LoopGuard, recorder: Recorder, keep: Collection[str] = ()) -> None:
        self._keep = keep
        self._own = OwnTelemetry(guard, observe=self._observe)
        self._sieve = Sieve(default_registry().conventions)
        self._recorder = recorder
        self._told: set[tuple[str, str]] = set()

    def read(self, request: Request) -> tuple[list[Node], list[Note]]:
        """What is of use in it. Items that do not parse are left out and counted, the rest is taken.

        Raises :class:`UnreadableRequest` where decoding fails, and fails again without those items.
        """
        try:
            return self._read(request)
        except MalformedRequest as error:
            request = self._sound(request, error)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not stop the pipeline at one request for ever
            log.error("a request of %s cannot be read, it is tried once more: %s", request.signal, _said(error))
        try:
            return self._read(request)
        except Exception as error:
            raise UnreadableRequest(_said(error)) from error

    def _read(self, request: Request) -> tuple[list[Node], list[Note]]:
        if request.signal == "traces":
            nodes, ours = self._own.observe(sift_traces(request.body, request.encoding, self._sieve))
            self._drop("spans", "own", ours)
            return nodes, []
        if request.signal == "logs":
            records = decode_logs(request.body, request.encoding)
            return [], [note for record in records if (note := self._join(record)) is not None]
        return [], []

    def _sound(self, request: Request, error: MalformedRequest) -> Request:
        """The request without the items that do not parse: text that is not UTF-8 passed the check at the door."""
        if request.encoding == "json":
            raise UnreadableRequest(_said(error)) from error
        try:
            checked = salvage(request.signal, request.body, error)
        except Refused as refused:
            raise UnreadableRequest(str(refused)) from error
        # Items with unusable ids are in `odd` too, but those were counted and told at the door.
        self._drop("spans" if request.signal == "traces" else "logs", "malformed", checked.odd["malformed"])
        return Request(signal=request.signal, encoding=request.encoding, body=checked.body)

    def _observe(self, span: Span | OrdinarySpan) -> Node:
        try:
            return observe(span, self._keep)
        except Exception as error:  # noqa: BLE001 - users register conventions of their own: what one raises costs its span
            self._unreadable("spans", error)
            return ordinary(span)

    def _join(self, record: LogRecord) -> Note | None:
        try:
            return join(record)
        except Exception as error:  # noqa: BLE001 - as above
            self._unreadable("logs", error)
            return None

    def _unreadable(self, kind: str, error: Exception) -> None:
        """Count it, and say once which convention raised what. Not the message: it may quote what the span holds."""
        self._drop(kind, "unreadable", 1)
        convention, place = _whose(error)
        fault = (convention, type(error).__name__)
        if fault not in self._told:
            self._told.add(fault)
            log.error(
                "the convention in %s raises %s (at %s): such %s are taken for ordinary ones, and counted as unreadable",
                *(*fault, place, kind),
            )

    def _drop(self, kind: str, reason: str, count: int) -> None:
        if count:
            self._recorder.record(f"otel_eval.{kind}.dropped", count, {"otel_eval.reason": reason})


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _whose(error: Exception) -> tuple[str, str]:
    """The module that the registry of conventions called, and the place where it raised."""
    called = "a convention"
    place = caller = ""
    trace = error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        if caller == REGISTRY and module != REGISTRY:
            called = module
        caller, place = module, f"{module}:{trace.tb_lineno}"
        trace = trace.tb_next
    return called, place


def fault_of(error: Exception) -> str:
    """What was raised, and where. Not its message: it may quote what an agent was told, unless it is ours."""
    if isinstance(error, DiedBefore):
        return str(error)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" at {trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
    return f"{type(error).__name__}{place}"
