"""What goes into the ledger and comes out of it, beside Interactions and records. All values, all frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from otel_eval.interaction import Interaction
from otel_eval.record import EvaluationRecord, Origin

NO_END = -1
"""Stands for the end of an Interaction without one, in the order of ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredInteraction:
    """An Interaction with the revision (from 1) that its evidence's digest has."""

    interaction: Interaction
    revision: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingEvaluation:
    """An evaluation that waits for its turn; its record will have the id ``evaluation_id``.

    ``enqueued_ns`` orders the queue; ``not_before_ns`` holds one back (0: at once).
    """

    evaluation_id: str
    interaction_id: str
    evaluator: str
    evaluator_version: str
    check: str
    revision: int = 1
    attempt: int = 0
    origin: Origin = Origin.LIVE
    enqueued_ns: int = 0
    not_before_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one transaction stores: Interactions, ended evaluations, waiting ones, and ids that became aliases.

    ``aliases`` maps an id that was handed out before to the id that it means now. ``waiting`` rows whose evaluation has
    ended are left out. ``of_known``: records whose Interaction is not here, since it was deleted while it was judged, are
    not kept. Storing revision *n* of an Interaction removes the rows that waited for an older revision of it:
    who commits a new revision puts into ``waiting`` what is still to be judged.
    """

    interactions: tuple[StoredInteraction, ...] = ()
    records: tuple[EvaluationRecord, ...] = ()
    waiting: tuple[WaitingEvaluation, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    of_known: bool = False


class Change(StrEnum):
    """What storing a record did, so that each live evaluation is counted once, at its first verdict."""

    NEW = "new"
    """The first of its evaluator and version on this Interaction; every re-run is new."""
    REVISED = "revised"
    """A later revision, and the outcome is another than before."""
    CONFIRMED = "confirmed"
    """A later revision or attempt with the outcome it had before."""
    STALE = "stale"
    """A newer revision's record was there already; kept, but not current."""
    DUPLICATE = "duplicate"
    """That very evaluation had ended before; the first record stays."""
    FORGOTTEN = "forgotten"
    """Its Interaction was deleted while it was judged: the record is not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A record and what storing it did. ``previous`` is the outcome's name before, for REVISED and CONFIRMED."""

    record: EvaluationRecord
    change: Change
    previous: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEntry:
    """A record that is stored but not yet exported, with what the export needs of its Interaction.

    ``sequence`` gives the order of storing. ``interaction_ended_ns`` and ``response_id`` are None where unknown.
    """

    sequence: int
    record: EvaluationRecord
    interaction_ended_ns: int | None = None
    response_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far an Interaction has come: what the next attempt of an evaluator on it needs to know.

    ``attempts`` has the highest attempt of each (evaluator, version) that has a record of it.
    """

    interaction_id: str
    revision: int
    attempts: Mapping[tuple[str, str], int]


class Place(NamedTuple):
    """A place in the order in which records are stored, of the ledger that had this ``identity``.

    A ledger gets a new identity each time it is opened for writing, and remembers the earlier ones: a place of another
    ledger, or of one that was restored from a backup of before, is refused.
    """

    identity: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Records in the order of storing, each with its number. ``reached``: everything up to there was looked at."""

    records: tuple[tuple[int, EvaluationRecord], ...]
    reached: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How much waits, and since when. ``oldest_ns`` is None where nothing waits."""

    count: int
    oldest_ns: int | None = None

    def age_seconds(self, now_ns: int) -> float:
        """How long the oldest one has waited; 0 with none."""
        return 0.0 if self.oldest_ns is None else max(0, now_ns - self.oldest_ns) / 1e9


class Spending(NamedTuple):
    """What a judge's model has cost on one day."""

    usd: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What ``delete`` took out. ``trace_ids`` are for whoever else keeps their telemetry (journal, quarantine)."""

    interactions: int = 0
    evaluations: int = 0
    trace_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """What one step let go of. ``kept`` Interactions are old enough and not done with. ``after``: where the next one begins;
    None after the last."""

    deleted: Deleted = Deleted()
    kept: int = 0
    after: tuple[int, str] | None = None
