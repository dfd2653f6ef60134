"""Reading Interactions for the evaluations whose turn has come: all that are wanted at once share one way to the ledger.

A hop to a thread costs more than a read, above all while the ledger's writer is busy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TypeAlias

from otel_eval.ledger import AsyncLedger, LedgerError, StoredInteraction

Found: TypeAlias = StoredInteraction | KeyError | LedgerError


class Reader:
    """Reads stored Interactions, many at a time."""

    def __init__(self, ledger: AsyncLedger) -> None:
        self._ledger = ledger.ledger
        self._wanted: dict[str, asyncio.Future[Found]] = {}
        self._task: asyncio.Task[None] | None = None

    async def stored_interaction(self, interaction_id: str) -> StoredInteraction:
        """The newest revision; an alias resolves. Raises KeyError where there is none, LedgerError as the ledger does."""
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
            found = await asyncio.to_thread(self._read_all, tuple(wanted))
            for interaction_id, future in wanted.items():
                future.set_result(found[interaction_id])
        self._task = None

    def _read_all(self, ids: Collection[str]) -> dict[str, Found]:
        try:
            found = self._ledger.stored_interactions(ids)
        except LedgerError as error:
            return dict.fromkeys(ids, error)
        return {interaction_id: found.get(interaction_id) or KeyError(interaction_id) for interaction_id in ids}
