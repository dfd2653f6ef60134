"""What litellm raises, as the errors of judges: who is down, and what is a single call's own trouble."""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Iterator
from typing import Any

from otel_eval.judges.errors import JudgeError, JudgeUnavailable, UnknownModel
from otel_eval.judges.reading import shortened
from otel_eval.judges.settings import JudgeModelSettings
from otel_eval.outcome import Cause
from otel_eval.redaction import API_KEY, Redaction, marker

SHORTEST_SECRET = 6
"""A key or header of fewer characters is not looked for in what a provider answers."""

_REFUSED_FORMAT = (400, 415, 422)
_DOWN = (401, 402, 403, 404, 408, 409, 425, 429)
_FINAL = (401, 402, 403, 404)
_LONGEST_REASON = 300
_LITELLM_PREFIX = re.compile(r"^(?:litellm\.\w+: )?(?:\w+Error: )?(?:\w+Exception - )?")
_UNREADABLE = "Invalid response object"
"""How litellm begins, with status 500, what it says of a completion that came and that it cannot read."""

_NO_PROVIDER = "LLM Provider NOT provided"
"""What litellm says, with status 400 and without a call, of a name that it knows no provider for. A proxy that is
litellm, too, may answer it of a name of its own."""

_NO_COMPLETION = (
    "Empty or invalid response from LLM endpoint",
    "response with no 'choices'",
    "'choices' that is not a list",
)
_SSL_CONTEXT = re.compile(r" ssl:(?:<[^>]*>|\w+)")
_MOST_CAUSES = 10


class FormatRefused(Exception):
    """The server answered 400 or the like: perhaps it does not know the response format."""


class Troubles:
    """The errors of one model's calls. ``name`` is what they call the model."""

    def __init__(self, settings: JudgeModelSettings, name: str) -> None:
        self._settings = settings
        self._name = name
        given = {secret for secret in (settings.api_key, *settings.headers.values()) if secret}
        # The longest first: one may stand in another. Shorter ones are no secrets, and stand in any word.
        self._secrets = sorted((secret for secret in given if len(secret) >= SHORTEST_SECRET), key=len, reverse=True)
        self._redaction = Redaction()

    def timeout(self) -> JudgeUnavailable:
        """No answer in time."""
        return self._down(f"no answer within {self._settings.timeout:g} s", cause=Cause.JUDGE_TIMEOUT)

    def mapped(self, litellm: Any, error: Exception, form: str) -> Exception:
        """FormatRefused, JudgeUnavailable or another JudgeError for what a call in that response format raised."""
        if isinstance(error, JudgeError):
            return error
        if isinstance(error, litellm.Timeout):
            return self.timeout()
        if _UNREADABLE in str(error):
            return JudgeError(f"{self._name}: its answer is no completion that litellm can read")
        if _NO_PROVIDER in str(error) and not getattr(error, "llm_provider", None):
            return UnknownModel(self._name, self._settings.model)
        reason = self._reason(error)
        if isinstance(error, litellm.ContextWindowExceededError | litellm.ContentPolicyViolationError):
            return JudgeError(reason)
        status = getattr(error, "status_code", None)
        # llama-cpp-python's server says 500 of a format that it does not know, and names the field.
        if status in _REFUSED_FORMAT or (form != "text" and "response_format" in str(error)):
            return FormatRefused(reason)
        server_error = isinstance(status, int) and status >= 500
        if isinstance(error, litellm.APIConnectionError) or status in _DOWN or server_error:
            return self._down(
                reason, retry_after=_retry_after(error), final=status in _FINAL, rate_limited=status == 429
            )
        return JudgeError(reason)

    def _down(
        self,
        reason: str,
        *,
        retry_after: float | None = None,
        cause: Cause = Cause.JUDGE_UNAVAILABLE,
        final: bool = False,
        rate_limited: bool = False,
    ) -> JudgeUnavailable:
        return JudgeUnavailable(
            f"{self._name}: {reason}",
            model=self._name,
            retry_after=retry_after,
            cause=cause,
            final=final,
            rate_limited=rate_limited,
        )

    def _reason(self, error: Exception) -> str:
        """The first line of what the provider said, without keys: some quote them."""
        status = getattr(error, "status_code", None)
        if (trouble := _on_the_way(error)) is not None:
            text = f"the call failed: {_SSL_CONTEXT.sub('', _first_line(trouble))}"
        elif _is_no_completion(error):
            text = f"its answer is no completion: {_said(error)}"
        else:
            text = _said(error) if status is None else f"HTTP {status}: {_said(error)}"
        for secret in self._secrets:
            text = text.replace(secret, marker(API_KEY))
        return self._redaction.text(shortened(text, 10 * _LONGEST_REASON))[:_LONGEST_REASON]


def _said(error: BaseException) -> str:
    return _LITELLM_PREFIX.sub("", _first_line(error))


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _on_the_way(error: Exception) -> BaseException | None:
    """What httpx raised where no HTTP status came: nobody there, a connection that broke. litellm says 500 of it."""
    import httpx  # comes with litellm, which takes its time

    found = (cause for cause in _causes(error) if isinstance(cause, httpx.RequestError | httpx.InvalidURL))
    return next(found, None)


def _is_no_completion(error: Exception) -> bool:
    """Whether something else came than a completion, with a status of success. litellm says 500 of that, too."""
    said = str(error)
    unread = any(isinstance(cause, json.JSONDecodeError | RecursionError) for cause in _causes(error))
    return unread or any(words in said for words in _NO_COMPLETION)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, what it was raised from or amid, and so on."""
    cause: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _retry_after(error: Exception) -> float | None:
    """Seconds from the header, which is a number or an HTTP date (RFC 9110, 10.2.3)."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        at = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, at.timestamp() - time.time())
