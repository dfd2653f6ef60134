"""The ledger by URL, synchronous: for users, the command line and gates, and for the writer thread of the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from sqlalchemy import Connection

from otel_eval.interaction import Interaction
from otel_eval.ledger import follow, queues, read, rows, write
from otel_eval.ledger.database import Database
from otel_eval.ledger.delete import delete
from otel_eval.ledger.expire import expire
from otel_eval.ledger.model import (
    Arrivals,
    Backlog,
    Batch,
    Deleted,
    Expired,
    OutboxEntry,
    Place,
    Spending,
    Standing,
    Stored,
    StoredInteraction,
    WaitingEvaluation,
)
from otel_eval.ledger.read import RecordFilter
from otel_eval.record import EvaluationRecord, Origin

T = TypeVar("T")


class Ledger:
    """Stored Interactions and what evaluators said of them. Safe to use from several threads.

    Any method may raise :class:`~otel_eval.ledger.errors.LedgerUnavailable`; of a write, nothing was stored then.
    """

    def __init__(self, database: Database, *, outbox: bool = True) -> None:
        self._database = database
        self.outbox = outbox

    @classmethod
    def open(cls, url: str, *, create: bool = True, outbox: bool = True) -> Ledger:
        """Open the ledger at an SQLAlchemy URL, ``sqlite:///otel-eval-data/ledger.db`` for one.

        An SQLite file is made where there is none (mode 0600, in a directory made 0700), an older format is migrated.
        ``create=False`` is for reading and deleting: it raises LedgerNotFound instead of making one. ``outbox=False``:
        nothing will be exported, so records are not queued for it. Raises LedgerFormatError where a newer otel-eval
        wrote it.
        """
        return cls(Database.open(url, create=create), outbox=outbox)

    @property
    def file(self) -> Path | None:
        """The file that it is kept in (SQLite); None where there is none to see."""
        return self._database.file

    def close(self) -> None:
        """Let go of the database. The ledger is not usable afterwards."""
        self._database.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Reading

    def interaction(self, interaction_id: str) -> Interaction:
        """The newest revision of that Interaction; an alias resolves. Raises KeyError where there is none."""
        return self.stored_interaction(interaction_id).interaction

    def stored_interaction(self, interaction_id: str) -> StoredInteraction:
        """The same with its revision and digest. Raises KeyError where there is none."""
        with self._database.reading() as connection:
            return read.stored_interaction(connection, interaction_id)

    def interactions(
        self,
        *,
        agent: str | None = None,
        session: str | None = None,
        user_id: str | None = None,
        parent_id: str | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        after: tuple[int, str] | None = None,
        page: int = read.PAGE,
    ) -> Iterator[Interaction]:
        """The stored Interactions that match, latest end first. ``since_ns`` and ``until_ns`` bound the end.

        ``after``: from behind the one with that end (``NO_END`` for none) and id. ``page``: so many are read at a time.
        """
        wanted = {"agent": agent, "session": session, "user_id": user_id, "parent_id": parent_id}
        return read.matching_interactions(self._database, wanted, since_ns, until_ns, after=after, page=page)

    def interaction_ids(
        self,
        *,
        agent: str | None = None,
        session: str | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        limit: int,
    ) -> tuple[str, ...]:
        """The ids of the first ``limit`` that :meth:`interactions` gives."""
        with self._database.reading() as connection:
            return read.interaction_ids(connection, {"agent": agent, "session": session}, since_ns, until_ns, limit)

    def standings(self, interaction_ids: Collection[str]) -> dict[str, Standing]:
        """Revision and attempts of each of these, by the id that was asked for; unknown ones are left out."""
        with self._database.reading() as connection:
            return read.standings(connection, interaction_ids)

    def evaluations(self, interaction_id: str) -> tuple[EvaluationRecord, ...]:
        """The ended evaluations of that Interaction (or of an alias of it), newest first; none where it is unknown."""
        with self._database.reading() as connection:
            return read.evaluations(connection, interaction_id)

    def record(self, evaluation_id: str) -> EvaluationRecord:
        """One ended evaluation. Raises KeyError where it has not ended or is unknown."""
        with self._database.reading() as connection:
            return read.record(connection, evaluation_id)

    def ended(self, evaluation_ids: Collection[str]) -> tuple[EvaluationRecord, ...]:
        """Those of these evaluations that have ended."""
        with self._database.reading() as connection:
            return read.records_by_id(connection, evaluation_ids)

    def records(
        self,
        *,
        interaction_id: str | None = None,
        evaluator: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        origin: Origin | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        after: tuple[int, str] | None = None,
        page: int = read.PAGE,
    ) -> Iterator[EvaluationRecord]:
        """All ended evaluations that match, newest first. ``since_ns`` and ``until_ns`` bound when they ended.

        ``after`` and ``page`` as for :meth:`interactions`.
        """
        wanted = RecordFilter(interaction_id, evaluator, agent, session, origin, since_ns, until_ns)
        return read.matching_records(self._database, wanted, current=False, after=after, page=page)

    def current(
        self,
        *,
        interaction_id: str | None = None,
        evaluator: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        origin: Origin | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        after: tuple[int, str] | None = None,
        page: int = read.PAGE,
    ) -> Iterator[EvaluationRecord]:
        """The current records that match: per Interaction, evaluator and version the highest (revision, attempt).

        ``origin`` asks for the current one among that origin's. The times are tried on the current record: an old one
        does not stand in for a current one that falls outside. Newest first.
        """
        wanted = RecordFilter(interaction_id, evaluator, agent, session, origin, since_ns, until_ns)
        return read.matching_records(self._database, wanted, current=True, after=after, page=page)

    def place(self) -> Place:
        """Where the order of storing has come to."""
        with self._database.reading() as connection:
            return follow.last_place(connection)

    def place_now(self, place: Place) -> Place | None:
        """That place, which was given out earlier, under the identity of now; None where this ledger never was there: it is
        another one, or was put back from a backup that is older."""
        with self._database.reading() as connection:
            return follow.place_now(connection, place)

    def arrivals(
        self,
        after: int,
        *,
        interaction_id: str | None = None,
        evaluator: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        origin: Origin | None = None,
        limit: int = 100,
    ) -> Arrivals:
        """The next ``limit`` records that were stored behind that number, match, and are current; in the order of storing.

        Who asks again behind what was ``reached`` misses none that is current then, and gets none twice.
        """
        wanted = RecordFilter(interaction_id, evaluator, agent, session, origin)
        with self._database.reading() as connection:
            return follow.arrivals(connection, after, wanted, limit)

    def stored_interactions(self, interaction_ids: Collection[str]) -> dict[str, StoredInteraction]:
        """:meth:`stored_interaction` for many, by the id that was asked for; those that there are not are left out."""
        with self._database.reading() as connection:
            return read.stored_interactions(connection, interaction_ids)

    # Storing

    def next_revisions(self, digests: Mapping[str, str]) -> dict[str, tuple[int, bool]]:
        """Of Interactions by id, the revision that evidence with that digest has, and whether it is new to the ledger."""
        with self._database.reading() as connection:
            return read.next_revisions(connection, digests)

    def aliases_of(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The other ids that were handed out for an Interaction before, in order; those without any are left out."""
        with self._database.reading() as connection:
            return read.aliases_of(connection, ids)

    def told_of(self, trace_ids: Iterable[str]) -> dict[str, dict[str, str]]:
        """The Interactions of these traces that are here, with their digests; traces without any are left out."""
        with self._database.reading() as connection:
            return read.told_of(connection, trace_ids)

    def commit(self, batch: Batch) -> tuple[Stored, ...]:
        """Store the batch in one transaction; what became of each record, in the batch's order."""
        prepared = rows.prepare(batch)
        return self.write(lambda connection: write.commit(connection, prepared, outbox=self.outbox))

    def finish(self, records: Sequence[EvaluationRecord], *, of_known: bool = False) -> tuple[Stored, ...]:
        """Store ended evaluations, take them off the waiting list and queue them for export, in one transaction.

        ``of_known``: those whose Interaction is not here any more are not kept (``Change.FORGOTTEN``).
        """
        return self.commit(Batch(records=tuple(records), of_known=of_known))

    def delete(
        self,
        *,
        interaction: str | None = None,
        session: str | None = None,
        user: str | None = None,
        before_ns: int | None = None,
    ) -> Deleted:
        """Delete Interactions with all that was said of them: by id, by session, by user, or by the time they ended.

        Nested Interactions go with theirs, and what is deleted is overwritten in the file. Raises ValueError unless
        exactly one is given.
        """
        given = {"interaction": interaction, "session": session, "user": user, "before_ns": before_ns}
        return delete(self._database, given)

    def expire(self, before_ns: int, *, after: tuple[int, str] | None = None) -> Expired:
        """Let go of some of what ended before that time (Unix epoch) and is judged and exported, from ``after`` on.

        Call it again from where it stopped, until it says that nothing is left, and :meth:`vacate` then.
        """
        return self.write(lambda connection: expire(connection, before_ns, after=after, exporting=self.outbox))

    def vacate(self) -> None:
        """Bring SQLite's write-ahead log into the file and empty it, so that what was deleted is in neither."""
        self._database.vacate()

    # What waits for its turn

    def waiting(
        self,
        limit: int = 1000,
        *,
        after: tuple[int, str] | None = None,
        due_ns: int | None = None,
        evaluators: Collection[str] | None = None,
        interaction_id: str | None = None,
    ) -> tuple[WaitingEvaluation, ...]:
        """The next ``limit`` evaluations that wait, by (enqueued_ns, evaluation_id), from behind ``after``.

        With ``due_ns``, only those that need not wait beyond that time; with ``evaluators`` or ``interaction_id``, only
        theirs.
        """
        with self._database.reading() as connection:
            return queues.waiting(connection, limit, after, due_ns, evaluators, interaction_id)

    def waiting_among(self, evaluation_ids: Collection[str]) -> frozenset[str]:
        """Those of these evaluations that wait, or run."""
        with self._database.reading() as connection:
            return queues.waiting_among(connection, tuple(evaluation_ids))

    def backlog(self) -> Backlog:
        """How many evaluations wait, and since when."""
        with self._database.reading() as connection:
            return queues.backlog(connection)

    def postpone(self, evaluation_ids: Iterable[str], not_before_ns: int) -> None:
        """Hold waiting evaluations back until then; unknown ids are passed over."""
        self.write(lambda connection: queues.postpone(connection, tuple(evaluation_ids), not_before_ns))

    def discard_waiting(self, evaluation_ids: Iterable[str]) -> None:
        """Take evaluations off the waiting list without a record (their evaluator is gone from the configuration)."""
        self.write(lambda connection: queues.discard(connection, tuple(evaluation_ids)))

    # The outbox

    def unexported(self, limit: int = 500) -> tuple[OutboxEntry, ...]:
        """The ``limit`` records that have waited longest for export, in the order they were stored."""
        with self._database.reading() as connection:
            return queues.unexported(connection, limit)

    def mark_exported(self, sequences: Iterable[int]) -> None:
        """These entries of the outbox were taken by the endpoint."""
        self.write(lambda connection: queues.mark_exported(connection, tuple(sequences)))

    def outbox_size(self) -> int:
        """How many records wait for export."""
        with self._database.reading() as connection:
            return queues.outbox_size(connection)

    # What judges spent, so that a daily budget survives a restart

    def spent(self, model: str, day: str) -> Spending:
        """US dollars and tokens that the model has cost on that UTC day (``2026-11-30``); zeros where nothing is kept."""
        with self._database.reading() as connection:
            return queues.spent(connection, model, day)

    def add(self, model: str, day: str, usd: float, tokens: int) -> None:
        """Add to what the model has cost on that day."""
        self.write(lambda connection: queues.add_spending(connection, model, day, usd, tokens))

    def write(self, change: Callable[[Connection], T]) -> T:
        """Run ``change`` in a write transaction of its own and commit it."""
        with self._database.writing() as connection:
            return change(connection)

    def write_all(self, changes: Sequence[Callable[[Connection], Any]]) -> list[Any]:
        """Run them all in *one* write transaction; the results in order. If one raises, none is stored."""
        with self._database.writing() as connection:
            return [change(connection) for change in changes]
