"""Evaluators of users: a decorated function here, or a subclass of :class:`otel_eval.evaluators.contract.Evaluator`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, overload

from otel_eval.evaluators.contract import EvaluationContext, Evaluator
from otel_eval.evaluators.definition import VERSION_LENGTH, source_of, stable
from otel_eval.evaluators.errors import EvaluatorDefinitionError, did_you_mean
from otel_eval.identity import digest
from otel_eval.interaction import Interaction
from otel_eval.outcome import Failed, Outcome, Passed

Answer: TypeAlias = Outcome | bool
Function: TypeAlias = Callable[..., Answer | Awaitable[Answer]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FunctionEvaluator(Evaluator):
    """A function as an evaluator. Calling it calls the function, so that it can be tested as one."""

    function: Function
    check: str
    name: str
    declared_version: str | None = None
    threshold: float | None = None
    trigger_on_failure: bool = False
    asks_model: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def default_id(self) -> str:
        """The id given to the decorator, else the function's name."""
        return self.name

    @functools.cached_property
    def _version(self) -> str:
        if self.declared_version is not None:
            options = digest(repr(stable(self.options)))[:VERSION_LENGTH] if self.options else ""
            return f"{self.declared_version}+{options}" if options else self.declared_version
        return digest(self.check, source_of(self.function), repr(stable(self.options)))[:VERSION_LENGTH]

    @property
    def version(self) -> str:
        """The declared one, else a digest of the function's source; options, if any, are part of it."""
        return self._version

    @functools.cached_property
    def _takes_context(self) -> bool:
        return len(_positional(self.function)) > 1

    def with_options(self, options: Mapping[str, Any] | None = None, /, **named: Any) -> FunctionEvaluator:
        """A copy that calls the function with these keyword-only arguments; raises EvaluatorDefinitionError for others.

        Given by name, ``greets.with_options(greeting="Hi")``, or as a mapping.
        """
        options = {**(options or {}), **named}
        known = _options(self.function)
        for name in options:
            if name not in known:
                takes = ", ".join(known) if known else "none"
                raise EvaluatorDefinitionError(
                    f"{self.name} has no option {name!r}{did_you_mean(name, known)} (keyword-only arguments are options; it has {takes})"
                )
        changed = replace(self, options={**self.options, **options}).with_judges(self._judges)
        return changed if self._given_id is None else changed.with_id(self._given_id)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if not arguments and options and self._are_options(options):
            given = ", ".join(f"{name}=…" for name in options)
            raise TypeError(
                f"{self.name} is called with an Interaction; with options it is {self.name}.with_options({given})"
            )
        return self.function(*arguments, **options)

    def _are_options(self, names: Iterable[str]) -> bool:
        return set(names) <= set(_options(self.function))

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Outcome | Awaitable[Outcome]:
        arguments = (interaction, context) if self._takes_context else (interaction,)
        answer = self.function(*arguments, **self.options)
        if inspect.isawaitable(answer):
            return self._awaited(answer)
        return self._outcome(answer)

    async def _awaited(self, answer: Awaitable[Answer]) -> Outcome:
        return self._outcome(await answer)

    def _outcome(self, answer: Answer) -> Outcome:
        if isinstance(answer, bool):
            return Passed(f"{self.name} holds") if answer else Failed(f"{self.name} does not hold")
        return answer


@overload
def evaluator(function: Function, /) -> FunctionEvaluator: ...


@overload
def evaluator(
    *,
    check: str | None = None,
    id: str | None = None,
    version: str | None = None,
    threshold: float | None = None,
    trigger_on_failure: bool = False,
    asks_model: bool = False,
) -> Callable[[Function], FunctionEvaluator]: ...


def evaluator(
    function: Function | None = None,
    /,
    *,
    check: str | None = None,
    id: str | None = None,
    version: str | None = None,
    threshold: float | None = None,
    trigger_on_failure: bool = False,
    asks_model: bool = False,
) -> FunctionEvaluator | Callable[[Function], FunctionEvaluator]:
    """Make an evaluator of a function of ``(interaction)`` or ``(interaction, context)``, sync or async.

    It returns an outcome: :class:`Passed`, :class:`Failed`, :class:`Inconclusive` or :class:`Errored`. True is short for
    passed and False for failed, without an explanation; anything else, None too, is an *error* outcome. Keyword-only
    arguments are options that a configuration may set. ``check`` and ``id`` default to the function's name (with dashes
    for the check). Raises EvaluatorDefinitionError for what cannot be called so.
    """

    def make(function: Function) -> FunctionEvaluator:
        _check_signature(function)
        name = getattr(function, "__name__", type(function).__name__)
        return FunctionEvaluator(
            function=function,
            check=_not_blank("check", check) or name.strip("_<>").replace("_", "-"),
            name=_not_blank("id", id) or name,
            declared_version=_not_blank("version", version),
            threshold=threshold,
            trigger_on_failure=trigger_on_failure,
            asks_model=asks_model,
        )

    return make if function is None else make(function)


def _check_signature(function: Function) -> None:
    if isinstance(function, type) or not callable(function):
        raise EvaluatorDefinitionError(
            f"@evaluator goes on a function, not on {function!r}; a class subclasses otel_eval.Evaluator instead"
        )
    parameters = inspect.signature(function).parameters.values()
    name = getattr(function, "__name__", repr(function))
    if len(_positional(function)) not in (1, 2):
        raise EvaluatorDefinitionError(
            f"{name} must take (interaction) or (interaction, context), not {inspect.signature(function)}"
        )
    unset = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if unset:
        raise EvaluatorDefinitionError(f"{name} must give its options defaults: {', '.join(unset)} has none")


def _positional(function: Function) -> list[inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _options(function: Function) -> list[str]:
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]


def _not_blank(what: str, value: str | None) -> str | None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise EvaluatorDefinitionError(f"@evaluator: {what} is a text that is not blank, not {value!r}")
    return value
