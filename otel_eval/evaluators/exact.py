"""What the exact evaluators share: dataclasses whose fields are the configuration, decided by a program, never a model."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar

from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.evaluators.definition import call_text
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.evidence import Decided
from otel_eval.interaction import Interaction


class ExactEvaluator(Evaluator):
    """A check that a program can decide. Equal where class, id and version are.

    ``factory`` is the name it has in Python and in the configuration. ``semantics`` goes up when a release changes what
    the same configuration decides, and with it the version.
    """

    factory: ClassVar[str]
    semantics: ClassVar[int] = 1

    @abc.abstractmethod
    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided: ...

    def default_id(self) -> str:
        """The call that makes it: ``should_call_tool_with(getOrder, orderId, o_43)``."""
        return call_text(self.factory, *self._arguments())

    def _arguments(self) -> Iterable[Any]:
        return [getattr(self, field.name) for field in dataclasses.fields(self)]  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactEvaluator):
            return NotImplemented
        return type(self) is type(other) and self.id == other.id and self.version == other.version

    def __hash__(self) -> int:
        return hash((type(self), self.id, self.version))


def one_text(factory: str, what: str, value: Any, *, blank: bool = False) -> str:
    """The value if it is a text (and not blank); raises EvaluatorDefinitionError that says what came instead."""
    if not isinstance(value, str):
        quote = ": put it in quotes" if isinstance(value, bool | int | float) else ""
        raise EvaluatorDefinitionError(
            f"{factory}: expected text for {what}, was {value!r} ({type(value).__name__}){quote}"
        )
    if not blank and not value.strip():
        raise EvaluatorDefinitionError(f"{factory}: {what} is blank")
    return value


def some_texts(factory: str, what: str, values: Iterable[Any]) -> tuple[str, ...]:
    """At least one text, none blank; raises EvaluatorDefinitionError otherwise."""
    texts = tuple(one_text(factory, what, value) for value in values)
    if not texts:
        raise EvaluatorDefinitionError(f"{factory}: expected at least one {what}, was none")
    return texts


def a_count(factory: str, what: str, value: Any, *, least: int = 0) -> int:
    """A whole number of at least ``least``; 0 is a limit. Raises EvaluatorDefinitionError otherwise."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise EvaluatorDefinitionError(
            f"{factory}: expected a whole number of at least {least} for {what}, was {value!r}"
        )
    return value
