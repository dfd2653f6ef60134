"""A trace that a whole day's turns go on in must not cost a core."""

from __future__ import annotations

from otel_eval.assemble.completion import PAUSE_PER_SPAN, Completion, CompletionSettings
from otel_eval.assemble.nodes import observe
from otel_eval.testing.spans import agent_span

TURNS = 400


def test_a_trace_of_thousands_of_turns_is_put_together_now_and_then() -> None:
    """While turns arrive all the time, the looks at it become rarer as it grows; every turn is told all the same."""
    completion = Completion(CompletionSettings(settle=0.02, settle_across_processes=0.04))
    trace = agent_span().trace_id
    told: set[str] = set()
    looks, now = 0, 0.0
    for turn in range(TURNS):
        now = turn / 100
        completion.add([observe(agent_span(trace_id=trace, asked=f"Turn {turn}"))], [], now=now)
        while (deadline := completion.next_deadline()) is not None and deadline <= now:
            looks += 1
            told |= {ready.interaction.id for ready in completion.due(now).ready}
    while (deadline := completion.next_deadline()) is not None:
        told |= {ready.interaction.id for ready in completion.due(deadline).ready}
        assert deadline <= now + 2 * PAUSE_PER_SPAN * TURNS + 1
    assert len(told) == TURNS
    assert looks < 40
