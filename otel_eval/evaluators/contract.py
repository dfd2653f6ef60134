"""The contract of an evaluator: given an Interaction and a context, it returns one outcome.

What holds for every evaluator, and is tested for each of ours:

* the same Interaction gives the same outcome (a judge's model aside), and the Interaction is not changed;
* a field that the telemetry does not carry gives *inconclusive*, by the rule of partial evidence: it decides only what
  more evidence could not overturn;
* one that raises gives an *error* outcome to its own record alone; cancellation passes through.
"""

from __future__ import annotations

import abc
import inspect
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored, Evaluation, Inconclusive, Outcome
from otel_eval.record import JudgeCall, Origin

if TYPE_CHECKING:
    from otel_eval.judges import Judges


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationContext:
    """What an evaluator may know beside the Interaction.

    ``expected`` and ``metadata`` come from the case in an experiment. ``judges`` resolves a judge model's name to a way
    to ask it (None where none is configured). Judge calls that an evaluation makes are appended to ``judge_calls`` and
    end up on its record. ``ledger`` answers ``interaction(id)`` and ``evaluations(interaction_id)``.
    """

    evaluation_id: str
    evaluator_id: str
    case_id: str | None = None
    expected: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = Origin.LIVE
    judges: Judges | None = None
    ledger: Any = None
    judge_calls: list[JudgeCall] = field(default_factory=list)


class Evaluator(abc.ABC):
    """Checks one thing about an Interaction.

    ``id`` names it in records and metrics (a binding's key, else made of its definition). ``check`` is the kind of thing
    it checks. ``version`` is the one it declares, else a digest of its definition: change what it checks and the version
    changes. ``threshold`` is None where it has none. ``trigger_on_failure``: whether a binding runs it on a failed
    Interaction when the configuration does not say. ``asks_model``: whether it may call a judge's model, and therefore
    waits its turn behind limits and budget.
    """

    check: str
    threshold: float | None = None
    trigger_on_failure: bool = False
    asks_model: bool = False

    @property
    @abc.abstractmethod
    def id(self) -> str: ...

    @property
    @abc.abstractmethod
    def version(self) -> str: ...

    @abc.abstractmethod
    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome | Awaitable[Outcome]:
        """The outcome. May raise: the caller makes an *error* outcome of it."""


async def run(evaluator: Evaluator, interaction: Interaction, context: EvaluationContext) -> Outcome:
    """Evaluate, with the one catch-all of the project: whatever breaks becomes an *error* outcome, cancellation passes."""
    try:
        outcome = evaluator.evaluate(interaction, context)
        if inspect.isawaitable(outcome):
            outcome = await outcome
    except Exception as error:  # noqa: BLE001 - the one boundary where anything may break
        return Errored(reason=f"{type(error).__name__}: {error}", error_type=type(error).__name__)
    if not isinstance(outcome, Evaluation | Inconclusive | Errored):
        kind = type(outcome).__name__
        return Errored(reason=f"{evaluator.id} returned {kind}, not an outcome", error_type="invalid_outcome")
    return outcome
