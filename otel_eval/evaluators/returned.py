"""What an evaluator returned, in the form that records, metrics and exporters take: a user's code may put anything in.

Found out here it is an *error* of its own record. Let through, it would be met where all records go by, at each start again.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from otel_eval.outcome import AttributeValue, Cause, Errored, Evaluation, Inconclusive, Outcome


def checked(outcome: Any) -> Outcome:
    """The outcome itself where all in it is as declared; numbers of another kind (NumPy's) become Python's.

    Attributes that are None are left out, those that are no finite number become text. Raises ValueError that says what
    else is wrong.
    """
    if isinstance(outcome, Evaluation):
        _text("explanation", outcome.explanation)
        if outcome.label is not None:
            _text("label", outcome.label)
        score, attributes = _score(outcome.score), _attributes(outcome.attributes)
        if score is outcome.score and attributes is outcome.attributes:
            return outcome  # type: ignore[return-value]
        return replace(outcome, score=score, attributes=attributes)  # type: ignore[return-value]
    if not isinstance(outcome, Inconclusive | Errored):
        raise ValueError(
            f"{type(outcome).__name__}, not an outcome: Passed(…), Failed(…), Inconclusive(…), True or False"
        )
    _text("reason", outcome.reason)
    if not isinstance(outcome.cause, Cause):
        raise ValueError(f"a cause that is none of {Cause.__name__}'s: {outcome.cause!r}")
    if isinstance(outcome, Errored):
        _text("error_type", outcome.error_type)
    return outcome


def _text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} {value!r}, which is not a text")


def _score(value: Any) -> float | None:
    if value is None or (type(value) is float and math.isfinite(value)):
        return value
    number = _number(value)
    if number is None or isinstance(value, bool) or not math.isfinite(number):
        raise ValueError(f"score {value!r}, which is not a finite number")
    return float(number)


def _attributes(given: Any) -> Mapping[str, AttributeValue]:
    if not isinstance(given, Mapping):
        raise ValueError(f"attributes {given!r}, which are not a mapping")
    if all(type(name) is str and type(value) in (str, bool, int) for name, value in given.items()):
        return given
    return {name: _attribute(name, value) for name, value in given.items() if value is not None}


def _attribute(name: object, value: object) -> AttributeValue:
    if not isinstance(name, str):
        raise ValueError(f"an attribute named {name!r}, which is not a text")
    if isinstance(value, str | bool):
        return value
    number = _number(value)
    if number is None:
        raise ValueError(f"attribute {name} {value!r}, which is neither text nor a number nor a truth value")
    return number if math.isfinite(number) else str(number)


def _number(value: Any) -> int | float | None:
    """As Python's own; None for what is no number, or is too large for one."""
    try:
        if isinstance(value, numbers.Integral):
            return int(value) if abs(float(value)) < math.inf else None
        return float(value) if isinstance(value, numbers.Real) else None
    except OverflowError:
        return None
