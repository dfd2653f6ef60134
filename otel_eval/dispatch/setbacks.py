"""Evaluations that a model fails while it answers others: each waits by itself, so that one of them cannot stop its lane.

A model that is down fails whoever asks, and its lane is paused. A text that a provider chokes on (500 each time, or a
gateway's filter that says 403) fails only its own evaluation, for as long as it is tried. The two are told apart by what
the model did for others meanwhile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from otel_eval.judges.errors import JudgeUnavailable

FIRST_WAIT, LONGEST_WAIT = 5.0, 600.0
"""Seconds between two tries of an evaluation that the model fails alone; doubled each time."""

LONGEST_TOLD = 3600.0
"""Seconds of Retry-After that are believed: past them one call asks again, lest a slip of a provider stop a model
for good."""


def told_wait(trouble: JudgeUnavailable) -> float | None:
    """Seconds until the model wants to be asked again; None where its provider did not say, or said no length of time."""
    wait = trouble.retry_after
    if wait is None or not math.isfinite(wait) or wait < 0:
        return None
    return min(wait, LONGEST_TOLD)


@dataclass(slots=True)
class _Setback:
    since_ns: int
    failed_at: float
    wait: float = FIRST_WAIT


class Setbacks:
    """What failed, of one lane. Times in seconds are monotonic, those in ``_ns`` since the epoch."""

    def __init__(self) -> None:
        self._by_id: dict[str, _Setback] = {}
        self._answered_at: float | None = None

    def answered(self, now: float) -> None:
        """The model answered somebody."""
        self._answered_at = now

    def failed(self, evaluation_id: str, trouble: JudgeUnavailable, began: float, now: float, now_ns: int) -> bool:
        """Note that a try which began then failed. Whether that is this evaluation's trouble alone.

        It is where the model answered another since this one last failed, or since this try began. A rate limit, and
        a provider that says when to come back, always speak of the model.
        """
        setback = self._by_id.get(evaluation_id)
        since = began if setback is None else setback.failed_at
        if setback is None:
            setback = self._by_id[evaluation_id] = _Setback(now_ns, now)
        setback.failed_at = now
        of_the_model = trouble.rate_limited or told_wait(trouble) is not None
        return not of_the_model and self._answered_at is not None and self._answered_at > since

    def next_wait(self, evaluation_id: str) -> float:
        """Seconds until it is to be tried again; twice as long each time."""
        setback = self._by_id[evaluation_id]
        wait, setback.wait = setback.wait, min(setback.wait * 2, LONGEST_WAIT)
        return wait

    def first_ns(self, evaluation_id: str) -> int:
        """When it failed first. Raises KeyError where it never did."""
        return self._by_id[evaluation_id].since_ns

    def forget(self, evaluation_id: str) -> None:
        """It has ended, or is not to be run any more."""
        self._by_id.pop(evaluation_id, None)
