"""The contract of an evaluator: given an Interaction and a context, it returns one outcome.

What holds for every evaluator, and is tested for each of ours:

* the same Interaction gives the same outcome (a judge's model aside), and the Interaction is not changed;
* a field that the telemetry does not carry gives *inconclusive*, by the rule of partial evidence: it decides only what
  more evidence could not overturn;
* one that raises gives an *error* outcome to its own record alone; cancellation passes through.
"""

from __future__ import annotations

import abc
import asyncio
import copy
import inspect
import sys
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeGuard

from otel_eval.evaluators import definition
from otel_eval.evaluators.at_hand import AtHand, ReadableLedger
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.returned import checked
from otel_eval.faults import text_of, told
from otel_eval.interaction import Interaction
from otel_eval.outcome import Errored, Inconclusive, Outcome
from otel_eval.record import JudgeCall, Origin

if TYPE_CHECKING:
    from otel_eval.judges import Judges, LoopJudges
    from otel_eval.judges.errors import JudgeUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationContext:
    """What an evaluator may know beside the Interaction.

    ``binding`` is the entry of the configuration that bound the evaluator to this agent, as ``agents.support-*``; None in an
    experiment, where ``expected`` and ``metadata`` come from the case. ``judges`` resolves a judge model's name to a way
    to ask it: those of the configuration; without one, those of the event loop, which know litellm's names alone (None
    only in a context made by hand: the judges that ship take the same ones then). Judge calls that an evaluation makes
    are appended to ``judge_calls`` and end up on its record. ``timeout``: seconds that a judge, or a completion
    function, of the user's own may take for one verdict; None: whoever runs the evaluator bounds it. ``ledger`` answers
    ``interaction(id)`` and ``evaluations(interaction_id)``: in a server the ledger itself; in experiments and over
    recordings, where none is kept, the Interactions of the attempt, or of the recordings, and no evaluations.
    """

    evaluation_id: str
    evaluator_id: str
    binding: str | None = None
    case_id: str | None = None
    expected: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = Origin.LIVE
    judges: Judges | None = None
    timeout: float | None = None
    ledger: ReadableLedger = field(default_factory=AtHand)
    judge_calls: list[JudgeCall] = field(default_factory=list)


class Evaluator(abc.ABC):
    """Checks one thing about an Interaction. Subclass it, set ``check`` and write :meth:`evaluate`; the rest has defaults.

    ``id`` names it in records and metrics: the binding's key, else what :meth:`default_id` says. ``check`` is the kind of
    thing it checks. ``version`` is the one it declares, else a digest of its definition: change what it checks and the
    version changes. Both may be overridden by a plain attribute, a field or a property. ``threshold`` is None where it has
    none. ``trigger_on_failure``: whether a binding runs it on a failed Interaction when the configuration does not say.
    ``asks_model``: whether it may call a judge's model, and therefore waits its turn behind limits and budget.
    """

    check: str
    threshold: float | None = None
    trigger_on_failure: bool = False
    asks_model: bool = False

    _given_id: str | None = None
    _computed_version: str | None = None
    _judges: LoopJudges | None = None

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Let a subclass override ``id`` by a property without losing :meth:`with_id`: it becomes its default id."""
        super().__init_subclass__(**arguments)
        own = cls.__dict__.get("id")
        if isinstance(own, property) and own.fget is not None:
            setattr(cls, "default_id", own.fget)  # noqa: B010 - mypy does not take the assignment to a method
            del cls.id

    @property
    def id(self) -> str:
        """The id given by :meth:`with_id`, else :meth:`default_id`."""
        return self._given_id if self._given_id is not None else self.default_id()

    @property
    def version(self) -> str:
        """12 hex digits: a digest of what it checks, the same on every machine. The id is no part of it."""
        if self._computed_version is None:
            object.__setattr__(self, "_computed_version", definition.version_of(self))
        assert self._computed_version is not None
        return self._computed_version

    def default_id(self) -> str:
        """The id where none was given; readable and the same for the same definition. The check's name, unless overridden."""
        return self.check

    def with_id(self, evaluator_id: str) -> Self:
        """A copy of that id, of the same class and version. Raises EvaluatorDefinitionError for a blank id."""
        if not isinstance(evaluator_id, str) or not evaluator_id.strip():
            raise EvaluatorDefinitionError(f"an evaluator's id is a text that is not blank, not {evaluator_id!r}")
        renamed = copy.copy(self)
        object.__setattr__(renamed, "_given_id", evaluator_id)
        if renamed.id != evaluator_id:  # the class has an attribute or a field of that name
            object.__setattr__(renamed, "id", evaluator_id)
        return renamed

    def with_judges(self, judges: LoopJudges | None) -> Self:
        """A copy that asks through these judges, whatever the context names; of the same id, class and version.

        So a configuration's evaluators take its models, its redaction and its budgets along to where no configuration is.
        """
        changed = copy.copy(self)
        object.__setattr__(changed, "_judges", judges)
        return changed

    def in_context(self, context: EvaluationContext) -> EvaluationContext:
        """The context with the judges that this evaluator asks: its own where it has some. On a running event loop."""
        return context if self._judges is None else replace(context, judges=self._judges.of_this_loop())

    @abc.abstractmethod
    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome | Awaitable[Outcome]:
        """The outcome. May raise: the caller makes an *error* outcome of it."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"


async def run(evaluator: Evaluator, interaction: Interaction, context: EvaluationContext) -> Outcome:
    """Evaluate, with the one catch-all around an evaluator: whatever breaks becomes an *error* outcome, cancellation passes.

    A ``SystemExit`` raised by an evaluator, and a ``CancelledError`` that nobody asked this task for, are breakage too:
    neither may end the process or the worker that others share.
    """
    try:
        outcome = evaluator.evaluate(interaction, evaluator.in_context(context))
        if inspect.isawaitable(outcome):
            outcome = await outcome
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return _broke(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the one boundary where anything may break
        if not _is_unavailable(error):
            return _broke(error)
        return Inconclusive(reason=error.reason, cause=error.cause)
    try:
        return checked(outcome)
    except Exception as error:  # noqa: BLE001 - part of the same boundary: what it returned may raise when looked at
        return Errored(reason=f"{evaluator.id} returned {text_of(error)}", error_type="invalid_outcome")


def _is_unavailable(error: BaseException) -> TypeGuard[JudgeUnavailable]:
    # Not imported: whoever raised it has done so, and exact evaluators, which are most, need nothing of the judges.
    errors = sys.modules.get("otel_eval.judges.errors")
    return errors is not None and isinstance(error, errors.JudgeUnavailable)


def _broke(error: BaseException) -> Errored:
    return Errored(reason=told(error), error_type=type(error).__name__)
