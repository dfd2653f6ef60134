"""What an experiment asks an agent, and what it checks about the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from reprlib import Repr
from types import MappingProxyType
from typing import Any

from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.definition import misdeclared
from otel_eval.experiment.errors import InvalidExperiment

_repr = Repr()
_repr.maxother = _repr.maxstring = 80


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
    """The evaluators as a tuple. Raises InvalidExperiment for what is no evaluator, or one that cannot say what it is."""
    checked = _several(evaluators, f"{where}: evaluators are given as a list of them")
    for evaluator in checked:
        if not isinstance(evaluator, Evaluator):
            raise InvalidExperiment(f"{where}: {shown(evaluator)} is not an evaluator{_hint(evaluator)}")
        # What every result is filed under has to be there before the first attempt costs anything.
        if (fault := misdeclared(evaluator)) is not None:
            raise InvalidExperiment(f"{where}: {fault}")
    return checked


def _hint(value: object) -> str:
    if isinstance(value, type) and issubclass(value, Evaluator):
        return f"; it is the class of one: {value.__name__}(…)"
    if getattr(value, "__module__", "").startswith("otel_eval."):
        return f"; call it: {value.__name__}(…)" if hasattr(value, "__name__") else ""
    if isinstance(value, list | tuple | set):
        return "; give its elements one by one"
    return "; decorate it with @evaluator" if callable(value) else ""


def checked_cases(cases: Iterable[EvalCase]) -> tuple[EvalCase, ...]:
    """The cases as a tuple. Raises InvalidExperiment where two have the same id."""
    checked = _several(cases, "cases are given as a list of them")
    seen: set[str] = set()
    for case in checked:
        if not isinstance(case, EvalCase):
            raise InvalidExperiment(f"{shown(case)} is not an EvalCase")
        if case.id in seen:
            raise InvalidExperiment(f"two cases have the id {case.id!r}: ids are unique")
        seen.add(case.id)
    return checked


def shown(value: object) -> str:
    """A value in a message: its repr, cut where an object tells its whole life."""
    return _repr.repr(value)


def _several(values: Iterable[Any], expected: str) -> tuple[Any, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidExperiment(f"{expected}, not {shown(values)}")
    return tuple(values)
