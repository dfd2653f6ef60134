"""What a lost span leaves: a gap, not the name or the silence of the spans around it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import Gap, GapKind, Interaction
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import START_NS, agent_span, message, model_span, span, tool_span

ASKED = [message("user", "Where is my order?")]
SAID = [message("assistant", "It was delivered yesterday.")]
WORKFLOW = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "shop-flow"}


def workflow(**fields: Any) -> Span:
    return span("invoke_workflow shop-flow", attributes=WORKFLOW, started_ns=START_NS - 1, seconds=20, **fields)


def run(*lost: str, flow: Span | None = None) -> Interaction:
    """A workflow around agents, each with a model's call, in a row; without the spans of those agents."""
    flow = flow or workflow()
    spans = [flow]
    for at, name in enumerate(("triage", "refunds")):
        agent = agent_span(
            agent=name, asked=None, reply=None, parent=flow, started_ns=START_NS + at * 5 * 10**9, seconds=4
        )
        chat = model_span(parent=agent, messages=ASKED, output=SAID, started_ns=agent.started_ns + 1)
        spans += [chat] if name in lost else [chat, agent]
    return assemble(spans)[0]


def test_a_workflows_name_is_not_that_of_an_agent_whose_span_is_lost() -> None:
    found = run("triage", "refunds")
    assert found.agent is None
    assert found.gap("agent") == Gap(field="agent", kind=GapKind.INCOMPLETE)


def test_nor_is_that_of_the_agent_that_came_after_it() -> None:
    found = run("triage")
    assert found.agent is None
    assert found.gap("agent") == Gap(field="agent", kind=GapKind.INCOMPLETE)


def test_the_first_agents_name_stays_where_a_later_ones_span_is_lost() -> None:
    assert run("refunds").agent == "triage"


def test_a_workflow_that_lost_nothing_has_its_own_name() -> None:
    flow = workflow()
    (found,) = assemble([flow, model_span(parent=flow, messages=ASKED, output=SAID)])
    assert (found.agent, found.gap("agent")) == ("shop-flow", None)


def test_a_workflow_below_a_span_that_is_kept_elsewhere_has_its_own_name() -> None:
    """A server's span goes to another backend: nothing of the agent's is missing."""
    flow = workflow(parent_id="b7ad6b7169203331")
    (found,) = assemble([flow, model_span(parent=flow, messages=ASKED, output=SAID)])
    assert found.agent == "shop-flow"


def test_the_trace_of_the_openai_agents_sdk_is_a_workflow() -> None:
    """OpenInference calls it an agent, whose name it is not."""
    scope = Scope("openinference.instrumentation.openai_agents")
    trace = span("Agent workflow", attributes={"openinference.span.kind": "AGENT"}, scope=scope, seconds=20)
    chat = model_span(parent=trace, messages=ASKED, output=SAID, started_ns=trace.started_ns + 1)
    (lost,) = assemble([trace, replace(chat, parent_id="b7ad6b7169203331")])
    assert lost.agent is None


def hidden(ran: bool, **first: Any) -> Interaction:
    """A run without content: two calls of tools, the second of which may have lost its span."""
    root = agent_span(asked=None, reply=None, seconds=30)
    wants = {"attributes": {"gen_ai.response.finish_reasons": ["tool_calls"], **first.pop("attributes", {})}, **first}
    ends = {"attributes": {"gen_ai.response.finish_reasons": ["stop"]}}
    at = [root.started_ns + n * 2 * 10**9 for n in range(5)]
    spans = [
        root,
        model_span(parent=root, started_ns=at[0], **wants),
        tool_span("getOrder", parent=root, started_ns=at[1]),
        model_span(parent=root, started_ns=at[2], **wants),
        model_span(parent=root, started_ns=at[4], **ends),
    ]
    if ran:
        spans.append(tool_span("refund", parent=root, started_ns=at[3]))
    return assemble(spans)[0]


def test_a_model_that_stopped_for_tools_of_which_none_ran_lost_one() -> None:
    assert hidden(ran=False).gap("tool_calls") == Gap(field="tool_calls", kind=GapKind.INCOMPLETE)


def test_no_call_is_lost_where_one_ran_for_each_stop() -> None:
    assert hidden(ran=True).gap("tool_calls") is None


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_nor_where_the_model_stopped_for_something_else(reason: str) -> None:
    assert hidden(ran=False, attributes={"gen_ai.response.finish_reasons": [reason]}).gap("tool_calls") is None


def test_requests_that_no_instrumentation_tells_are_a_gap_beside_no_tools() -> None:
    """No call has a span, and the model's messages leave out what it asked for: that there was none is not known."""
    root = agent_span(asked=None, reply=None, seconds=30)
    wants = model_span(
        parent=root, messages=ASKED, output=[message("assistant")], started_ns=root.started_ns + 1,
        attributes={"gen_ai.response.finish_reasons": ["tool_use"]},
    )  # fmt: skip
    ends = model_span(parent=root, messages=ASKED, output=SAID, started_ns=root.started_ns + 10**10)
    (found,) = assemble([root, wants, ends])
    gap = found.gap("tool_calls")
    assert (found.tool_calls, gap is not None and gap.kind) == ((), GapKind.NOT_CAPTURED)


GIVEN = message("tool", {"type": "tool_call_response", "id": "call_3", "response": "delivered"})


def test_results_whose_requests_nobody_tells_are_a_gap() -> None:
    """OpenLIT's histories of Groq lack what the model asked for."""
    (found,) = assemble([model_span(messages=[*ASKED, GIVEN], output=SAID)])
    gap = found.gap("tool_calls")
    assert (found.tool_calls, gap is not None and gap.kind) == ((), GapKind.NOT_CAPTURED)


def test_results_whose_calls_are_told_are_none() -> None:
    wants = message("assistant", {"type": "tool_call", "id": "call_3", "name": "getOrder", "arguments": {}})
    (found,) = assemble([model_span(messages=[*ASKED, wants, GIVEN], output=SAID)])
    assert [call.result for call in found.tool_calls] == ["delivered"]
    assert found.gap("tool_calls") is None


def test_results_of_earlier_turns_are_none() -> None:
    history = [*ASKED, GIVEN, *SAID, message("user", "Thanks. And mine?")]
    (found,) = assemble([model_span(messages=history, output=SAID)])
    assert (found.asked, found.gap("tool_calls")) == ("Thanks. And mine?", None)
