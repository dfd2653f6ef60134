"""Reading Interactions for the evaluations whose turn has come: all that are wanted at once share one way to the ledger,
and the next ones in the queue come along.

A hop to a thread costs more than a read, above all while the ledger's writer is busy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from typing import NamedTuple, TypeAlias

from otel_eval.ledger import AsyncLedger, LedgerError, StoredInteraction

Found: TypeAlias = StoredInteraction | KeyError | LedgerError

READ_AHEAD = 16
"""Interactions read before their turn, with those whose turn it is."""

_KEPT_S = 1.0
"""Seconds for which what was read is believed: by those who come ahead of their turn, and by another evaluator of the same
Interaction. What another replica deletes shows that late; what this one deletes or revises, at once."""


class _Kept(NamedTuple):
    stored: StoredInteraction
    at: float
    changes: int


class Reader:
    """Reads stored Interactions, many at a time."""

    def __init__(self, ledger: AsyncLedger) -> None:
        self._ledger = ledger
        self._wanted: dict[str, asyncio.Future[Found]] = {}
        self._next: dict[str, None] = {}
        self._kept: dict[str, _Kept] = {}
        self._task: asyncio.Task[None] | None = None

    async def stored_interaction(self, interaction_id: str, ahead: Iterable[str] = ()) -> StoredInteraction:
        """The newest revision; an alias resolves. Raises KeyError where there is none, LedgerError as the ledger does.

        ``ahead`` are ids that will be asked for soon.
        """
        kept = self._kept.get(interaction_id)
        if kept is not None and self._holds(kept):
            return kept.stored
        self._next.update(dict.fromkeys(ahead))
        future = self._wanted.get(interaction_id)
        if future is None:
            future = self._wanted[interaction_id] = asyncio.get_running_loop().create_future()
            if self._task is None:
                self._task = asyncio.create_task(self._read())
        found = await asyncio.shield(future)
        if isinstance(found, StoredInteraction):
            return found
        raise found

    async def close(self) -> None:
        """Return once nothing is being read."""
        if self._task is not None:
            await asyncio.wait((self._task,))

    async def _read(self) -> None:
        while self._wanted:
            wanted, self._wanted = self._wanted, {}
            ahead, self._next = self._next.keys() - wanted.keys(), {}
            changes, at = self._ledger.changes, asyncio.get_running_loop().time()
            found = await asyncio.to_thread(self._read_all, (*wanted, *ahead))
            for interaction_id, future in wanted.items():
                future.set_result(found[interaction_id])
            self._kept = {name: kept for name, kept in self._kept.items() if self._holds(kept)}
            self._kept |= {
                name: _Kept(stored, at, changes)
                for name, stored in found.items()
                if isinstance(stored, StoredInteraction)
            }
        self._task = None

    def _holds(self, kept: _Kept) -> bool:
        return kept.changes == self._ledger.changes and asyncio.get_running_loop().time() - kept.at < _KEPT_S

    def _read_all(self, ids: Collection[str]) -> dict[str, Found]:
        try:
            found = self._ledger.ledger.stored_interactions(ids)
        except LedgerError as error:
            return dict.fromkeys(ids, error)
        return {interaction_id: found.get(interaction_id) or KeyError(interaction_id) for interaction_id in ids}
