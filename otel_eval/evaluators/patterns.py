"""Regular expressions from a configuration, run against replies that nobody has checked.

The ``regex`` library, in its ``re`` compatible mode, because a search there can be given a time limit: one catastrophic
pattern must not hold the event loop.
"""

from __future__ import annotations

import functools
import math

import regex

from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.exact import one_text
from otel_eval.evaluators.text_evidence import TextEvidence

TIME_LIMIT_SECONDS = 1.0

_LOOKS_RIGHT = ("$", r"\Z", r"\z", "(?=", "(?!", "(?>", "(?(", "(*", "++", "*+", "?+", "}+")
_LOOKS_LEFT = ("(?<=", "(?<!", "(?(", "(*", r"\G")
_LOOKS_ASIDE = (r"\b", r"\B", r"\m", r"\M", r"\X", r"\R", "^")


class PatternTooSlow(RuntimeError):
    """The search was given up at its time limit; the evaluator that raises it ends as *error*."""


class Pattern:
    """A compiled regular expression that matches anywhere, its dot line breaks too."""

    __slots__ = ("_compiled", "_left", "_right", "_source")

    def __init__(self, source: str) -> None:
        self._source = source
        self._compiled = regex.compile(source, regex.DOTALL | regex.VERSION0)
        self._left = _reach(source, _LOOKS_LEFT)
        self._right = _reach(source, _LOOKS_RIGHT)

    def found_in(self, evidence: TextEvidence) -> str | None:
        """The first match that stands whatever the unknown parts are; None where there is none. Raises PatternTooSlow."""
        text = evidence.text
        try:
            if evidence.lacking is None:
                found = self._compiled.search(text, timeout=TIME_LIMIT_SECONDS)
                return None if found is None else str(found.group())
            for found in self._compiled.finditer(text, timeout=TIME_LIMIT_SECONDS):
                if evidence.firm(found.start(), found.end(), left=self._left, right=self._right):
                    return str(found.group())
        except TimeoutError:
            raise PatternTooSlow(
                f"the pattern {self._source} took more than {TIME_LIMIT_SECONDS:g} s over {len(text)} characters: "
                "it backtracks too much"
            ) from None
        return None


@functools.lru_cache(maxsize=1024)
def compiled(source: str) -> Pattern:
    """The pattern, compiled once. Raises ``regex.error`` where it is none: :func:`a_pattern` was asked before."""
    return Pattern(source)


def a_pattern(factory: str, source: object) -> str:
    """The source if it is a regular expression; raises EvaluatorDefinitionError that says where it goes wrong."""
    text = one_text(factory, "regex", source)
    try:
        compiled(text)
    except regex.error as error:
        raise EvaluatorDefinitionError(f"{factory}: {text!r} is not a regular expression: {error}") from None
    return text


def _reach(source: str, far: tuple[str, ...]) -> float:
    """How far beyond a match the pattern may look on one side. By its letters alone: an escaped ``\\$`` counts as ``$``,
    which only makes a match in a partial text count for less."""
    if any(token in source for token in far):
        return math.inf
    return 1 if any(token in source for token in _LOOKS_ASIDE) else 0
