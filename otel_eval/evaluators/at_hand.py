"""What an evaluator may look up beside the Interaction that it judges: the ledger, or what there is where none is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from otel_eval.interaction import Interaction
from otel_eval.record import EvaluationRecord


class ReadableLedger(Protocol):
    """The part of a ledger that every evaluation can rely on, in a server and offline."""

    def interaction(self, interaction_id: str, /) -> Interaction:
        """The Interaction of that id. Raises KeyError where it is not known."""
        ...

    def evaluations(self, interaction_id: str, /) -> tuple[EvaluationRecord, ...]:
        """The evaluations of it that ended before, newest first; none where there are none, or it is not known."""
        ...


class AtHand:
    """A ledger where none is kept: the Interactions of one run, whose evaluations are not there before it ends."""

    def __init__(self, interactions: Iterable[Interaction] = ()) -> None:
        self._interactions = {interaction.id: interaction for interaction in interactions}

    def interaction(self, interaction_id: str, /) -> Interaction:
        return self._interactions[interaction_id]

    def evaluations(self, interaction_id: str, /) -> tuple[EvaluationRecord, ...]:
        return ()
