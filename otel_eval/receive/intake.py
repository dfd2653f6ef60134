"""The one seam between the transports and the journal: check, store durably, and say what was not taken."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from otel_eval.clock import Clock
from otel_eval.instruments import NullRecorder, Recorder
from otel_eval.journal import Encoding, Journal, JournalError, JournalFull, Request, Signal
from otel_eval.receive.in_flight import DEFAULT_LIMIT, InFlight
from otel_eval.receive.pushback import Pushback
from otel_eval.receive.refusal import Code, Refused, retryable
from otel_eval.receive.soundness import Checked, check_protobuf
from otel_eval.receive.soundness_json import check_json

OFF_LOOP_BYTES = 2 << 20
"""Larger requests are checked in a thread, so that the others are not held up."""

METRICS_NOT_TAKEN = "otel-eval takes traces and the logs that belong to them; metrics are not taken here"
_NOUNS: dict[Signal, str] = {"traces": "spans", "logs": "log records", "metrics": "data points"}
_REASONS = {
    "trace_id": "without a usable trace id (16 bytes, not all zero)",
    "span_id": "without a usable span id (8 bytes, not all zero)",
    "no_trace": "that belong to no trace",
    "malformed": "that cannot be parsed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The request is in the journal, but for ``rejected`` items; ``message`` says why, empty where all was taken."""

    rejected: int = 0
    message: str = ""


class Intake:
    """Takes requests of any transport into one journal.

    ``forwarding``: the telemetry is passed on as it came, so metrics and logs that belong to no trace are taken too.
    ``in_flight`` is where a transport counts a request's bytes, before it has them in memory.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        recorder: Recorder | None = None,
        forwarding: bool = False,
        max_in_flight_bytes: int = DEFAULT_LIMIT,
        clock: Clock | None = None,
    ) -> None:
        self._journal = journal
        self._recorder = recorder or NullRecorder()
        self._forwarding = forwarding
        self.in_flight = InFlight(max_in_flight_bytes)
        self._pushback = Pushback(clock)

    async def accept(self, signal: Signal, encoding: Encoding, body: bytes, transport: str) -> Accepted:
        """Return once the journal holds durably what is sound in the request. Raises :class:`Refused`: nothing is kept.

        ``transport`` labels the counters. An empty request, and one without a sound item, costs no write.
        """
        checked = await self._check(signal, encoding, body)
        if checked.taken:
            await self._store(Request(signal=signal, encoding=encoding, body=checked.body))
        return self._accepted(signal, checked, transport)

    def count_refusal(self, refused: Refused, transport: str) -> None:
        """Count a refused request, once: a transport does so when it answers, whoever refused it."""
        labels = {"otel_eval.transport": transport, "otel_eval.reason": str(refused.code)}
        self._recorder.record("otel_eval.requests.refused", 1, labels)

    async def _check(self, signal: Signal, encoding: Encoding, body: bytes) -> Checked:
        check = check_json if encoding == "json" else check_protobuf
        checked = await asyncio.to_thread(check, signal, body) if len(body) > OFF_LOOP_BYTES else check(signal, body)
        if self._forwarding:
            del checked.odd["no_trace"]
        elif signal == "metrics":
            checked.odd = Counter({"metrics": checked.items})
        return checked

    async def _store(self, request: Request) -> None:
        try:
            await self._journal.append(request)
        except JournalFull as error:
            self._pushback.refused(error)
            raise retryable(Code.FULL, "the journal is full for now") from error
        except JournalError as error:
            self._pushback.refused(error)
            raise retryable(Code.STORAGE, "the journal cannot be written") from error
        self._pushback.taken()

    def _accepted(self, signal: Signal, checked: Checked, transport: str) -> Accepted:
        if signal != "metrics":
            kind = "spans" if signal == "traces" else "logs"
            if checked.taken:
                self._recorder.record(f"otel_eval.{kind}.received", checked.taken, {"otel_eval.transport": transport})
            for reason, count in checked.odd.items():
                self._recorder.record(f"otel_eval.{kind}.dropped", count, {"otel_eval.reason": reason})
        return Accepted(rejected=checked.rejected, message=_message(signal, checked))


def _message(signal: Signal, checked: Checked) -> str:
    if not checked.rejected:
        return ""
    if signal == "metrics":
        return METRICS_NOT_TAKEN
    reasons = ", ".join(f"{count} {_REASONS[reason]}" for reason, count in sorted(checked.odd.items()))
    return f"{checked.rejected} of {checked.items} {_NOUNS[signal]} not taken: {reasons}"
