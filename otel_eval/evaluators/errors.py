"""What can go wrong before an evaluator runs.

* :class:`EvaluatorDefinitionError` (a ValueError): an evaluator cannot be made of what was given.
    * :class:`EvaluatorLoadError`: an import path or an entry point does not lead to an evaluator.

What goes wrong *while* one runs is no exception but an outcome: :func:`otel_eval.evaluators.contract.run`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EvaluatorDefinitionError(ValueError):
    """Says what is allowed and what was given; a configuration puts the key's path before it."""


class EvaluatorLoadError(EvaluatorDefinitionError):
    """Says at which step of finding a custom evaluator the path went wrong."""


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """``"; did you mean a or b?"``, or nothing where nothing known comes near."""
    close = difflib.get_close_matches(given, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""
