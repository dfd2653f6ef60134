"""A trace that a whole day's turns go on in, or thousands of tools, must not cost a core."""

from __future__ import annotations

import gc
import time

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.completion import PAUSE_PER_SPAN, Completion, CompletionSettings
from otel_eval.assemble.nodes import observe
from otel_eval.testing.spans import agent_span, tool_span

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


@pytest.mark.parametrize("named", [True, False], ids=["call ids", "no ids"])
def test_thousands_of_tools_at_once_cost_each_its_own(named: bool) -> None:
    """An agent may call 4,000 tools side by side: four times 1,000 take four times as long, not sixteen."""

    def cost(calls: int) -> float:
        agent = agent_span()
        tools = [tool_span(parent=agent, call_id=f"c{call}" if named else None) for call in range(calls)]
        began = time.process_time()
        (interaction,) = assemble([agent, *tools])
        spent = time.process_time() - began
        assert len(interaction.tool_calls) == calls
        return spent

    gc.disable()  # a full collection of all that the tests have imported costs more than what is measured
    try:
        few, many = (min(cost(calls) for _ in range(3)) for calls in (1000, 4000))
    finally:
        gc.enable()
    assert many < 10 * few
