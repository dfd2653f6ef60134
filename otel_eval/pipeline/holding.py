"""Which journal entries are still needed: by a trace that is not yet stored, or because they are not yet forwarded."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable


class Holding:
    """Bookkeeping alone: says which entries may go; whoever asks releases them.

    ``forwarding``: entries are needed until :meth:`forwarded` says that they have been sent on.
    """

    def __init__(self, *, forwarding: bool) -> None:
        self._entries_of: dict[str, set[int]] = {}
        self._traces_of: dict[int, set[str]] = {}
        self._forwarded: float = -1 if forwarding else math.inf
        self._read: list[int] = []

    def take(self, seq: int, traces: Iterable[str]) -> None:
        """That entry was read, and something of these traces is in it; none: nothing has to be put together of it."""
        needed_by = set(traces)
        if not needed_by:
            heapq.heappush(self._read, seq)
            return
        self._traces_of[seq] = needed_by
        for trace_id in needed_by:
            self._entries_of.setdefault(trace_id, set()).add(seq)

    def needed_by(self, trace_id: str) -> frozenset[int]:
        """The entries that the trace needs at the moment."""
        return frozenset(self._entries_of.get(trace_id, ()))

    def detach(self, trace_id: str) -> frozenset[int]:
        """The entries that the trace needs; what comes of it from now on belongs to entries of its own."""
        return frozenset(self._entries_of.pop(trace_id, ()))

    def let_go(self, trace_id: str, seqs: Iterable[int]) -> None:
        """The trace needs these no more, which :meth:`detach` gave."""
        for seq in seqs:
            traces = self._traces_of[seq]
            traces.discard(trace_id)
            if not traces:
                del self._traces_of[seq]
                heapq.heappush(self._read, seq)

    def forwarded(self, seq: int) -> None:
        """Every entry up to this one has been sent on."""
        self._forwarded = max(self._forwarded, seq)

    def free(self) -> list[int]:
        """The entries that nothing needs any more, each told once."""
        freed: list[int] = []
        while self._read and self._read[0] <= self._forwarded:
            freed.append(heapq.heappop(self._read))
        return freed
