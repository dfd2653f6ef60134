"""Several agents below one frame: stages and turns are Interactions of their own, agents that hand over are one."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import Interaction
from otel_eval.signals import Span
from otel_eval.testing.spans import START_NS, agent_span, message, model_span, span, tool_span

SECOND = 1_000_000_000


def frame(**attributes: Any) -> Span:
    """A workflow's span; ``attributes`` are those it has beside its operation."""
    told = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "flow", **attributes}
    return span("invoke_workflow flow", attributes=told, seconds=60)


def stage(above: Span, agent: str, asked: str, reply: str, tool: str, at: int) -> tuple[Span, ...]:
    """An agent that calls its model, a tool and its model again, and answers."""
    started = START_NS + at * SECOND
    own = agent_span(agent=agent, asked=asked, reply=reply, parent=above, started_ns=started, seconds=5)
    call = {"type": "tool_call", "id": f"call-{tool}", "name": tool, "arguments": {}}
    result = {"type": "tool_call_response", "id": f"call-{tool}", "response": "done"}
    first = model_span(
        parent=own, started_ns=started, messages=[message("user", asked)], output=[message("assistant", call)]
    )
    used = tool_span(tool, {}, "done", call_id=f"call-{tool}", parent=own, started_ns=started + SECOND, seconds=1)
    last = model_span(
        parent=own,
        started_ns=started + 2 * SECOND,
        messages=[message("user", asked), message("assistant", call), message("tool", result)],
        output=[message("assistant", reply)],
    )
    return own, first, used, last


def told(found: tuple[Interaction, ...]) -> list[tuple[str | None, str | None, str | None, list[str]]]:
    return [(each.agent, each.asked, each.reply, [call.name for call in each.tool_calls]) for each in found]


RESEARCHER = ("researcher", "find out X", "X is 5", "search", 0)
WRITER = ("writer", "write about X", "All about X.", "fetch", 10)


def test_stages_are_judged_each_by_what_it_did() -> None:
    """A workflow around different agents that each answered is no Interaction; its stages are, none below another."""
    flow = frame()
    found = assemble((flow, *stage(flow, *RESEARCHER), *stage(flow, *WRITER)))
    assert told(found) == [
        ("researcher", "find out X", "X is 5", ["search"]),
        ("writer", "write about X", "All about X.", ["fetch"]),
    ]
    assert [each.parent_id for each in found] == [None, None]


def test_the_same_question_again_is_a_turn_of_its_own() -> None:
    """A user who repeats himself after the agent had answered is answered twice."""
    flow = frame()
    again = ("researcher", "find out X", "X is still 5", "search_again", 10)
    found = assemble((flow, *stage(flow, *RESEARCHER), *stage(flow, *again)))
    assert [(each.asked, each.reply) for each in found] == [("find out X", "X is 5"), ("find out X", "X is still 5")]


def test_a_workflow_that_tells_of_its_own_work_is_an_interaction() -> None:
    """What was asked of the whole, and what came out of it, stand on its span: the agents are parts of that."""
    flow = frame(
        **{
            "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "a report on X"}]}]',
            "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "The report."}]}]',
        }
    )
    found = assemble((flow, *stage(flow, *RESEARCHER), *stage(flow, *WRITER)))
    assert (found[0].span_id, found[0].asked, found[0].reply) == (flow.span_id, "a report on X", "The report.")
    assert [each.parent_id for each in found[1:]] == [found[0].id]


@pytest.mark.parametrize("by", ["span", "tool"])
def test_an_agent_that_hands_over_is_answered_for_by_the_last(by: str) -> None:
    """Whether a span or a tool's name tells of the handoff: one Interaction, the first agent's, with the last one's reply."""
    flow = frame()
    triage = agent_span(agent="triage", asked="my order broke", reply=None, parent=flow, seconds=5)
    if by == "span":
        handing = span("handoff", parent=triage, attributes={"gen_ai.operation.name": "agent_handoff"}, seconds=1)
        output = [message("assistant", "One moment, I pass you on.")]
    else:
        handing = tool_span("transfer_to_refunds", {}, "ok", parent=triage, seconds=1)
        output = [message("assistant", "One moment, I pass you on.")]
    asking = model_span(parent=triage, messages=[message("user", "my order broke")], output=output)
    refunds = stage(flow, "refunds", "my order broke", "Refunded.", "issue_refund", 10)
    found = assemble((flow, triage, handing, asking, *refunds))
    assert [(each.agent, each.asked, each.reply) for each in found] == [
        ("triage", "my order broke", "Refunded."),
        ("refunds", "my order broke", "Refunded."),
    ]
    assert found[1].parent_id == found[0].id


@pytest.mark.parametrize(
    ("name", "result", "handed"),
    [
        ("transfer_to_billing", {"assistant": "billing"}, True),
        ("transfer_to_billing_desk", "Successfully transferred to Billing Desk", True),
        ("transfer_back_to_boss", "Successfully transferred back to boss", True),
        ("transfer_to_savings", {"status": "ok"}, False),
        ("transfer_to_savings", "Successfully transferred to account 81", False),
        ("find_agent", {"assistant": "agent"}, False),
    ],
)
def test_a_handoff_is_known_by_what_it_gave(name: str, result: Any, handed: bool) -> None:
    """The agent that took over has no span here: it is lost, or in a trace of its own."""
    root = agent_span()
    (found,) = assemble([root, tool_span(name, {}, result, parent=root)])
    assert [call.name for call in found.tool_calls] == ([] if handed else [name])
