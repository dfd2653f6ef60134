"""The last line against judging our own judge: a binding whose traffic *is* the judge's calls stops.

The loop guard knows our calls by their marks. Should every mark be lost on the way (an instrumented gateway that keeps
neither trace, scope nor system message), such an Interaction still lies inside one of our judge calls in time and quotes
the very reply that this call judges. One such Interaction may be chance; a row of them, each matching, is a loop.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import NamedTuple

from otel_eval.interaction import Interaction
from otel_eval.record import EvaluationRecord

STREAK = 20
"""Interactions of an agent in a row that follow a judge call of ours before an evaluator's binding to it stops."""

_REMEMBERED = 512
_SKEW_NS = 1_000_000_000
_QUOTE = 200
_SHORTEST_QUOTE = 12


class _Call(NamedTuple):
    started_ns: int
    ended_ns: int
    quote: str


class Feedback:
    """Counts, for each evaluator and agent, Interactions in a row that look like judge calls of ours."""

    def __init__(self) -> None:
        self._calls: deque[_Call] = deque(maxlen=_REMEMBERED)
        self._streaks: defaultdict[tuple[str, str | None], int] = defaultdict(int)

    def judged(self, record: EvaluationRecord, interaction: Interaction) -> None:
        """Remember the judge calls that this evaluation made."""
        quote = (interaction.reply or "").strip()[:_QUOTE].splitlines()[:1]
        if quote and len(quote[0]) >= _SHORTEST_QUOTE:
            self._calls.extend(_Call(call.started_ns, call.ended_ns, quote[0]) for call in record.judge_calls)

    def stopped(self, evaluator: str, agent: str | None) -> bool:
        """Whether that evaluator judges that agent no more, until the next start."""
        return self._streaks.get((evaluator, agent), 0) >= STREAK

    def arrived(self, evaluators: Iterable[str], interaction: Interaction) -> tuple[str, ...]:
        """Note an Interaction that these evaluators are to judge; those whose binding stops with it."""
        stops: list[str] = []
        follows = self._follows(interaction)
        for evaluator in evaluators:
            key = (evaluator, interaction.agent)
            if self.stopped(*key):
                continue
            if not follows:
                self._streaks.pop(key, None)
                continue
            self._streaks[key] += 1
            if self.stopped(*key):
                stops.append(evaluator)
        return tuple(stops)

    def _follows(self, interaction: Interaction) -> bool:
        asked, started, ended = interaction.asked, interaction.started_ns, interaction.ended_ns
        if asked is None or started is None or ended is None:
            return False
        return any(
            call.started_ns - _SKEW_NS <= started and ended <= call.ended_ns + _SKEW_NS and call.quote in asked
            for call in self._calls
        )
