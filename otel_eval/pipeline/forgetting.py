"""Deleting what was said, wherever it is kept: ledger, outbox and waiting evaluations; journal and quarantine; memory.

The same for a stopped server (the ``delete`` command opens ledger and journal itself) and a running one (which is asked
through :mod:`otel_eval.server.control`, and whose pipeline forgets as well). Done twice it is harmless, so it is simply
repeated where it was interrupted.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from otel_eval.conventions.facts import Facts
from otel_eval.instruments import NullRecorder
from otel_eval.journal import Consumer, Entry
from otel_eval.ledger import AsyncLedger
from otel_eval.loop_guard import LoopGuard
from otel_eval.pipeline.pipeline import Pipeline
from otel_eval.pipeline.reading import Reader, UnreadableRequest
from otel_eval.pipeline.relay import Relay
from otel_eval.receive.removal import value_bytes, without_traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to go, by exactly one of: an Interaction's id, a session, a user, or the time (Unix epoch) it ended before."""

    interaction: str | None = None
    session: str | None = None
    user: str | None = None
    before_ns: int | None = None

    def __post_init__(self) -> None:
        if len(self.given()) != 1:
            raise ValueError("exactly one of interaction, session, user and before_ns says what to delete")

    def given(self) -> Mapping[str, Any]:
        """The one that is given, by its name."""
        fields = {
            "interaction": self.interaction,
            "session": self.session,
            "user": self.user,
            "before_ns": self.before_ns,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def values(self) -> tuple[bytes, ...]:
        """What stands in a request of that session or user, whether it can be read or not."""
        return tuple(form for text in (self.session, self.user) if text for form in value_bytes(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What went. ``requests``: stored requests that something was taken out of, ``quarantined``: files that went."""

    interactions: int = 0
    evaluations: int = 0
    traces: int = 0
    requests: int = 0
    quarantined: int = 0


async def forget(
    wanted: Wanted,
    *,
    ledger: AsyncLedger,
    journal: Consumer | None,
    pipeline: Pipeline | None = None,
    relay: Relay | None = None,
) -> Forgotten:
    """Delete it. Telemetry goes by whole traces: what else of such a trace is not put together yet goes with it.

    ``journal`` None: there is none to look into. Raises LedgerError or JournalError; then some of it may be left, and
    doing it again deletes the rest.
    """
    deleted = await ledger.delete(**wanted.given())
    forgotten = Forgotten(
        interactions=deleted.interactions, evaluations=deleted.evaluations, traces=len(deleted.trace_ids)
    )
    if journal is None:
        return forgotten
    chosen, unreadable = await _chosen(wanted, journal, set(deleted.trace_ids))
    if pipeline is not None:
        await pipeline.forget(chosen)
    bodies = {entry.seq: body async for entry, body in _without(chosen, journal)} | dict.fromkeys(unreadable)
    quarantined = await journal.forget(chosen, bodies, wanted.values())
    if relay is not None:
        relay.reread()
    if wanted.before_ns is not None:
        quarantined += await journal.forget_quarantined(wanted.before_ns)
    again = await ledger.delete(**wanted.given())  # what was being stored meanwhile
    return Forgotten(
        interactions=forgotten.interactions + again.interactions,
        evaluations=forgotten.evaluations + again.evaluations,
        traces=len(chosen | set(deleted.trace_ids)),
        requests=len(bodies),
        quarantined=quarantined,
    )


async def _chosen(wanted: Wanted, journal: Consumer, deleted: set[str]) -> tuple[set[str], list[int]]:
    """The traces that it means: those of what the ledger had, and those in unreleased entries, which it may not have yet.

    And the entries that it means as a whole, as they wait to be forwarded and cannot be read.
    """
    if wanted.interaction is not None:
        trace_id = wanted.interaction.partition("-")[0].lower()
        return deleted | ({trace_id} if _is_trace_id(trace_id) else set()), []
    matching: set[str] = set()
    newest: dict[str, int] = {}
    unreadable: list[int] = []
    reader = Reader(LoopGuard(secrets.token_bytes(16)), NullRecorder())
    async for entry in journal.unreleased():
        told = await asyncio.to_thread(_told, reader, entry)
        if told is None and _is_meant(wanted, entry):
            unreadable.append(entry.seq)
        for trace_id, facts in told or ():
            newest[trace_id] = entry.received_ns
            if facts is not None and _is_of(wanted, facts):
                matching.add(trace_id)
    if wanted.before_ns is None:
        return deleted | matching, unreadable
    old = {trace_id for trace_id, received_ns in newest.items() if received_ns < wanted.before_ns}
    return deleted - newest.keys() | old, unreadable  # an old trace that goes on is not old as a whole


def _told(reader: Reader, entry: Entry) -> list[tuple[str, Facts | None]] | None:
    """The traces of the entry with what each span says; None where it cannot be read."""
    try:
        nodes, notes = reader.read(entry.request)
    except UnreadableRequest:
        return None
    return [(node.trace_id, node.facts) for node in nodes] + [(note.trace_id, note.facts) for note in notes]


def _is_meant(wanted: Wanted, unreadable: Entry) -> bool:
    if wanted.before_ns is not None:
        return unreadable.received_ns < wanted.before_ns
    return any(value in unreadable.request.body for value in wanted.values())


def _is_of(wanted: Wanted, facts: Facts) -> bool:
    if wanted.session is not None:
        return facts.session == wanted.session
    return wanted.user is not None and facts.user_id == wanted.user


async def _without(chosen: set[str], journal: Consumer) -> AsyncIterator[tuple[Entry, bytes | None]]:
    """The unreleased entries in which something of these traces is, each with the body that is left of it."""
    async for entry in journal.unreleased():
        body = await asyncio.to_thread(without_traces, entry.request, chosen)
        if body is not entry.request.body:
            yield entry, body


def _is_trace_id(text: str) -> bool:
    return len(text) == 32 and all(digit in "0123456789abcdef" for digit in text)
