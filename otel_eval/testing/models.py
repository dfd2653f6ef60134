"""Completion functions for judges in tests: ``(system, user) -> text``, without a model and without a network.

``ModelJudge(complete=fixed(0.9))`` asks nobody. What a judge was told stands in ``.calls``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Scripted: TypeAlias = "str | float | Mapping[str, Any] | Exception"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a completion function."""

    system: str
    user: str


def verdict(score: float, reason: str = "as scripted") -> str:
    """What a criterion judge's model answers."""
    return json.dumps({"reason": reason, "score": score})


def label(label: str, explanation: str = "as scripted") -> str:
    """What a label judge's model answers."""
    return json.dumps({"explanation": explanation, "label": label})


def as_text(answer: str | float | Mapping[str, Any], reason: str = "as scripted") -> str:
    """Text as it stands, a number as a verdict with that score, a mapping as JSON."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Mapping):
        return json.dumps(answer)
    return verdict(answer, reason)


class Completion:
    """A completion function that answers from a script. Raises what the script says, or IndexError past its end."""

    def __init__(self, answers: Iterable[Scripted], *, repeat_last: bool = False) -> None:
        self._answers = list(answers)
        self._repeat_last = repeat_last
        self.calls: list[Call] = []

    def __call__(self, system: str, user: str) -> str:
        self.calls.append(Call(system, user))
        index = len(self.calls) - 1
        if self._repeat_last:
            index = min(index, len(self._answers) - 1)
        if index >= len(self._answers):
            raise IndexError(f"the script has {len(self._answers)} answers, this is call {index + 1}")
        answer = self._answers[index]
        if isinstance(answer, Exception):
            raise answer
        return as_text(answer)


def fixed(answer: Scripted, reason: str = "as scripted") -> Completion:
    """The same answer to every call: text, a score (``fixed(0.9, "it apologizes")``), a mapping or an exception."""
    text = answer if isinstance(answer, Exception) else as_text(answer, reason)
    return Completion([text], repeat_last=True)


def scripted(answers: Iterable[Scripted]) -> Completion:
    """One answer after another; a call past the last raises IndexError."""
    return Completion(answers)
