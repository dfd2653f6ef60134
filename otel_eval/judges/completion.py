"""The seam between judges and models: a request for one answer, the answer, and the function that gets one for the other.

A *completion function* is either of

* ``async (ModelRequest) -> ModelAnswer``: it learns everything and tells everything;
* ``(system, user) -> str``, sync or async: what tests and simple clients need.

Which one it is shows in the number of its parameters.
"""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast

from otel_eval.aside import MAX_HUNG, aside_of
from otel_eval.judges.errors import JudgeConfigError, JudgeTimeout


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model, by the name that the judge or the configuration gives it. ``max_output_tokens`` None
    sends no limit; ``headers`` go with the HTTP call."""

    model: str
    system: str
    user: str
    conversation_id: str
    schema: Mapping[str, object]
    max_output_tokens: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What came back. ``cut``: by the token limit, not at its end. Tokens and cost are None where nobody told."""

    text: str
    model: str | None = None
    response_id: str | None = None
    cut: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class Complete(Protocol):
    """Gets the answer to a request. Raises JudgeUnavailable where waiting may help, another JudgeError where not."""

    async def __call__(self, request: ModelRequest, /) -> ModelAnswer: ...


CompletionFunction: TypeAlias = Complete | Callable[[str, str], str] | Callable[[str, str], Awaitable[str]]

_given: list[CompletionFunction] = []


@contextlib.contextmanager
def completing(function: CompletionFunction) -> Iterator[None]:
    """For a test: every model judge of the process asks this function, whichever model it names, until the block ends.

    A judge that was given a completion function of its own keeps it.
    """
    _given.append(function)
    try:
        yield
    finally:
        _given.remove(function)


def given_completion() -> CompletionFunction | None:
    """The innermost function given by :func:`completing`, or None outside of any block."""
    return _given[-1] if _given else None


def as_complete(function: CompletionFunction) -> Complete:
    """The one form of a completion function, made of either. Raises JudgeConfigError for what is neither."""
    parameters = _positional_parameters(function)
    if parameters == 1:
        return cast("Complete", function)
    if parameters != 2:
        raise JudgeConfigError("a completion function takes (system, user), or one ModelRequest")
    return _Plain(cast("Callable[[str, str], Any]", function))


def checked_answer(answer: Any) -> ModelAnswer:
    """What a function of the user's gave, if records and counters can take it. Raises JudgeConfigError that says what not."""
    if not isinstance(answer, ModelAnswer) or not isinstance(answer.text, str):
        given = answer.text if isinstance(answer, ModelAnswer) else answer
        raise JudgeConfigError(f"the completion function returned {type(given).__name__}, not text")
    kinds: dict[str, tuple[type, ...]] = {"model": (str,), "response_id": (str,), "cost_usd": (int, float)}
    kinds |= {"input_tokens": (int,), "output_tokens": (int,)}
    for name, allowed in kinds.items():
        value = getattr(answer, name)
        if value is None or (type(value) is str and str in allowed):
            continue
        if type(value) not in allowed or not 0 <= value < math.inf:
            raise JudgeConfigError(f"the completion function told {name} {value!r}, which cannot be")
    return answer


@dataclass(frozen=True, slots=True)
class _Plain:
    function: Callable[[str, str], Any]

    async def __call__(self, request: ModelRequest, /) -> ModelAnswer:
        # In a thread: a plain function may well be a blocking client, and must not hold every other evaluation.
        aside = aside_of(self.function, "otel-eval-completion")
        if aside.hung >= MAX_HUNG:
            raise JudgeTimeout(f"the completion function was not called: {aside.hung} earlier calls have not come back")
        answer: Any = await aside.call(lambda: self.function(request.system, request.user))
        if inspect.isawaitable(answer):
            answer = await answer
        return ModelAnswer(text=answer) if isinstance(answer, str) else checked_answer(answer)


def _positional_parameters(function: object) -> int:
    if not callable(function):
        return 0
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    return len(required) if required or not positional else len(positional)
