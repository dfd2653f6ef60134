"""VeADK: Volcengine's attributes and events on the spans of Google's ADK."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import ToolCallPart
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, START_NS, span

SETTING = "OBSERVABILITY_OPENTELEMETRY_TRACE_CONTENT=true"
USER = {"parts": [{"text": "Where is order 81?"}], "role": "user"}
REPLY = {"messages": [{"role": "model", "parts": [{"type": "text", "content": "It is paid."}]}]}
SAID: dict[str, Any] = {"gen_ai.completion.0.role": "model", "gen_ai.completion.0.content": "It is paid."}
ASKING: dict[str, Any] = {
    f"gen_ai.completion.{place}.tool_calls.0.{key}": value
    for place, order in enumerate((81, 82))
    for key, value in (
        ("id", f"c{order}"),
        ("function.name", "find"),
        ("function.arguments", json.dumps({"id": order})),
    )
}


def event(name: str, **attributes: str) -> SpanEvent:
    """One of a call's messages; ``__`` stands for a dot."""
    return SpanEvent(
        name=name, time_ns=START_NS, attributes={key.replace("__", "."): value for key, value in attributes.items()}
    )


def vea(name: str, kind: str, parent: Span | None = None, at: float = 0, events: Any = (), **more: Any) -> Span:
    """A span of VeADK's, of the session ``s1`` unless ``more`` tells another."""
    told: dict[str, Any] = {
        "cozeloop.report.source": "veadk",
        "gen_ai.span.kind": kind,
        "gen_ai.session.id": "s1",
        "gen_ai.agent.name": "last",
        **{
            key.replace("__", "."): value if isinstance(value, str) else json.dumps(value)
            for key, value in more.items()
        },
    }
    return span(
        name,
        parent=parent,
        scope=Scope("veadk", "1.1.19"),
        attributes=told,
        events=tuple(events),
        started_ns=START_NS + round(at * SECOND_NS),
        seconds=9 if parent is None else 0.5,
    )


def facts(*args: Any, **fields: Any) -> Facts:
    """The facts of such a span."""
    found = facts_of(vea(*args, **fields))
    assert found is not None
    return found


def call(parent: Span, at: float, answer: dict[str, Any], *events: SpanEvent) -> Span:
    """A model's call."""
    first = (event("gen_ai.system.message", role="system", content="Be brief."), *events)
    return vea("call_llm", "llm", parent, at, first, gen_ai__operation__name="chat", **answer)


def find(parent: Span | None = None, at: float = 0, **more: Any) -> Span:
    """A tool's run."""
    told = {
        "gen_ai.tool.input": json.dumps({"name": "find", "description": "finds", "parameters": {"id": 81}}),
        "gen_ai.tool.output": json.dumps({"id": "c81", "name": "find", "response": {"state": "paid"}}),
    }
    return vea("execute_tool find", "tool", parent, at, gen_ai__tool__name="find", **{**told, **more})


def test_a_run() -> None:
    """The invocation has the name of the agent that was last."""
    outer = vea("invocation", "workflow", gen_ai__operation__name="chain", gen_ai__input=USER, gen_ai__output=REPLY)
    agent = vea("invoke_agent desk", "agent", outer, 0.1, gen_ai__input=USER, gen_ai__output=REPLY)
    asked = event("gen_ai.user.message", role="user", content="Where is order 81?")
    one = {key: value for key, value in ASKING.items() if ".0.tool" in key}
    first = call(agent, 1, one, asked)
    (found,) = assemble(
        [
            outer,
            agent,
            first,
            find(first, 1.2),
            vea("execute_tool (merged)", "tool", first, 1.2, gen_ai__tool__name="(merged tools)"),
            call(
                agent, 2, SAID, asked, event("gen_ai.tool.message", role="tool", id="c81", content='{"state":"paid"}')
            ),
        ]
    )
    assert (found.agent, found.session, found.system) == ("desk", "s1", "Be brief.")
    assert (found.asked, found.reply) == ("Where is order 81?", "It is paid.")
    (tool,) = found.tool_calls
    assert (tool.name, tool.arguments, tool.result, tool.call_id) == ("find", {"id": 81}, {"state": "paid"}, "c81")


def test_calls_of_tools_side_by_side() -> None:
    """They are of one answer."""
    answer = facts("call_llm", "llm", **ASKING).output
    assert answer is not None
    (message,) = answer
    assert message.parts == tuple(
        ToolCallPart(name="find", arguments={"id": order}, call_id=f"c{order}") for order in (81, 82)
    )


def test_an_agent_that_another_handed_over_to() -> None:
    """What the other said and did is quoted in the user's name, and is no question."""
    events = [
        event("gen_ai.user.message", role="user", content="Where is order 81?"),
        event(
            "gen_ai.user.message",
            role="user",
            parts__0__type="text",
            parts__0__text="For context:",
            parts__1__type="text",
            parts__1__text="[triage] said: x",
        ),
    ]
    told = facts("call_llm", "llm", events=events).input
    assert told is not None
    assert [message.text for message in told] == ["Where is order 81?"]
    assert facts("execute_tool transfer_to_agent", "tool", gen_ai__tool__name="transfer_to_agent").kind is Kind.HANDOFF


@pytest.mark.parametrize("name", ["invocation", "invoke_agent desk", "agent_run [desk]", "call_llm"])
def test_content_that_is_off(name: str) -> None:
    """The switch is VeADK's."""
    assert facts(name, "llm").setting == SETTING


def test_values_of_a_tool_without_content() -> None:
    """Not there, or a placeholder of a tool that failed."""
    for output in (None, "<unknown_tool_output>"):
        more = {} if output is None else {"gen_ai__tool__output": output}
        tool = facts("execute_tool find", "tool", gen_ai__tool__name="find", **more)
        assert (tool.arguments, tool.result, tool.setting) == (MISSING, MISSING, SETTING)


def test_placeholders_of_what_veadk_does_not_know() -> None:
    """No session and no reason why a model stopped."""
    model = facts(
        "call_llm",
        "llm",
        gen_ai__session__id="<unknown_session_id>",
        gen_ai__response__finish_reason="<no_finish_reason_provided>",
    )
    assert (model.session, model.finish_reasons) == (None, ())
