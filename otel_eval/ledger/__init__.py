"""The ledger: stored Interactions, evaluation records, the evaluations that wait, and the outbox of what is not exported.

:class:`Ledger` is for everybody (sync, by URL); :class:`AsyncLedger` is the pipeline's way in: one writer thread, one
transaction for all the writes that came meanwhile. Guarantees, whoever calls:

* what a call has returned is on disk (SQLite: WAL, ``synchronous=FULL``);
* everything is an upsert by a computed id: doing it twice after a crash changes nothing;
* the current record of an evaluator on an Interaction is the one with the highest (revision, attempt), in whatever order
  they arrived: the result of an older revision never overwrites a newer one;
* an ended evaluation keeps its first record: a second result under the same id is dropped, so what was exported stays true.
"""

from __future__ import annotations

from otel_eval.ledger.asynchronous import AsyncLedger
from otel_eval.ledger.errors import LedgerError, LedgerFormatError, LedgerNotFound, LedgerRefused, LedgerUnavailable
from otel_eval.ledger.ledger import Ledger
from otel_eval.ledger.model import (
    NO_END,
    Arrivals,
    Backlog,
    Batch,
    Change,
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

__all__ = [
    "NO_END",
    "Arrivals",
    "AsyncLedger",
    "Backlog",
    "Batch",
    "Change",
    "Deleted",
    "Expired",
    "Ledger",
    "LedgerError",
    "LedgerFormatError",
    "LedgerNotFound",
    "LedgerRefused",
    "LedgerUnavailable",
    "OutboxEntry",
    "Place",
    "Spending",
    "Standing",
    "Stored",
    "StoredInteraction",
    "WaitingEvaluation",
]
