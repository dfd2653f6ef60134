"""What can go wrong with a judge.

::

    JudgeError
    ├── UnusableAnswer        the model answered, but gave no verdict
    │   └── UnknownLabel      a label judge's answer carries a label that it does not know
    ├── JudgeTimeout          no answer in time, though the model answers others
    ├── BudgetSpent           the model's budget of the day (UTC) is used up
    ├── JudgeConfigError      no model named, no price for a dollar budget, a template that cannot be filled
    ├── UnknownModel          a name that litellm can ask nobody by
    └── JudgeUnavailable      the provider is down: worth waiting for
"""

from __future__ import annotations

from collections.abc import Iterable

from otel_eval.outcome import Cause


class JudgeError(Exception):
    """A judge gave no verdict. ``cause`` is what the inconclusive outcome will carry."""

    cause: Cause = Cause.JUDGE_ERROR


class UnusableAnswer(JudgeError):
    """The model's answer is not one JSON object of the asked form."""

    cause = Cause.JUDGE_ANSWER_UNUSABLE


class UnknownLabel(UnusableAnswer):
    """A well-formed answer with a label that the judge does not declare."""

    cause = Cause.UNKNOWN_LABEL


class JudgeTimeout(JudgeError):
    """No answer within the timeout, retries included, from a model that answers others meanwhile: this call's own trouble."""

    cause = Cause.JUDGE_TIMEOUT


class BudgetSpent(JudgeError):
    """The model's daily budget is used up; asking goes on after midnight UTC."""

    cause = Cause.BUDGET_SPENT


class JudgeConfigError(JudgeError, ValueError):
    """The judge cannot be asked as it is configured."""


class UnknownModel(JudgeError):
    """litellm cannot tell from the name whom to ask. ``name`` is what the judge calls the model, ``model`` what
    litellm was told."""

    def __init__(self, name: str, model: str) -> None:
        super().__init__(f"{name}: litellm cannot tell the provider of {model!r}: put it first, as openai/{model}")
        self._name = name

    def among(self, entries: Iterable[str]) -> UnknownModel:
        """The same where these are the entries of ``judge_models``: a name that is none may have been meant for one."""
        known = list(entries)
        if self._name in known:
            return self
        from_where = ", ".join(known) or "none, they are those of the configuration given as config= or --config"
        words = f"{self._name}: neither an entry of judge_models (here: {from_where})"
        self.args = (f"{words} nor a model whose provider litellm can tell, as openai/gpt-4o-mini",)
        return self


class JudgeUnavailable(JudgeError):
    """The provider is down (429, 5xx, unreachable, timeouts, a key it refuses): pause ``model``, keep its backlog.

    ``retry_after`` is in seconds, None where the provider did not say. ``cause`` is what to record once waiting is over.
    ``rate_limited``: it asks for fewer calls, whatever they are about. ``final``: trying again at once is pointless (a
    refused key, an unknown model); somebody has to act. ``subject`` is what was being judged, where the evaluator says
    so. Evaluators raise it; :func:`otel_eval.evaluators.contract.run` makes an inconclusive outcome of it, so whoever
    keeps a backlog catches it before.
    """

    def __init__(
        self,
        reason: str,
        *,
        model: str,
        retry_after: float | None = None,
        cause: Cause = Cause.JUDGE_UNAVAILABLE,
        final: bool = False,
        rate_limited: bool = False,
    ) -> None:
        super().__init__(reason)
        self.model = model
        self.retry_after = retry_after
        self.cause = cause
        self.final = final
        self.rate_limited = rate_limited
        self.subject: str | None = None

    @property
    def reason(self) -> str:
        """What an inconclusive outcome says."""
        return str(self) if self.subject is None else f"{self.subject}: {self}"
