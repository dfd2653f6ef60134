"""What an experiment asks an agent, and what it checks about the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from otel_eval.evaluators.contract import Evaluator
from otel_eval.experiment.errors import InvalidExperiment


@dataclass(frozen=True, slots=True, init=False)
class EvalCase:
    """One command for the agent, with the evaluators that this case alone is checked by.

    ``expected`` (anything) and ``metadata`` reach custom evaluators through their context; nothing here reads them.
    Raises InvalidExperiment for a blank id or command, and for an evaluator that is none.
    """

    id: str
    command: str
    evaluators: tuple[Evaluator, ...] = ()
    expected: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        id: str,
        command: str,
        *evaluators: Evaluator,
        expected: Any = None,
        metadata: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        if not isinstance(id, str) or not id.strip():
            raise InvalidExperiment(f"a case needs an id, not {id!r}")
        if not isinstance(command, str) or not command.strip():
            raise InvalidExperiment(f"case {id}: a command says something, {command!r} does not")
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "command", command)
        object.__setattr__(self, "evaluators", checked_evaluators(evaluators, f"case {id}"))
        object.__setattr__(self, "expected", expected)
        object.__setattr__(self, "metadata", dict(metadata))

    @classmethod
    def of(
        cls,
        id: str,
        command: str,
        *evaluators: Evaluator,
        expected: Any = None,
        metadata: Mapping[str, Any] = MappingProxyType({}),
    ) -> EvalCase:
        """The same as the constructor, for those who like their cases in one line."""
        return cls(id, command, *evaluators, expected=expected, metadata=metadata)


def checked_evaluators(evaluators: Iterable[Evaluator], where: str) -> tuple[Evaluator, ...]:
    """The evaluators as a tuple. Raises InvalidExperiment for what is no evaluator, saying what it is instead."""
    checked = tuple(evaluators)
    for evaluator in checked:
        if not isinstance(evaluator, Evaluator):
            hint = "; decorate it with @evaluator" if callable(evaluator) else ""
            raise InvalidExperiment(f"{where}: {evaluator!r} is not an evaluator{hint}")
    return checked


def checked_cases(cases: Iterable[EvalCase]) -> tuple[EvalCase, ...]:
    """The cases as a tuple. Raises InvalidExperiment where two have the same id."""
    checked = tuple(cases)
    seen: set[str] = set()
    for case in checked:
        if not isinstance(case, EvalCase):
            raise InvalidExperiment(f"{case!r} is not an EvalCase")
        if case.id in seen:
            raise InvalidExperiment(f"two cases have the id {case.id!r}: ids are unique")
        seen.add(case.id)
    return checked
