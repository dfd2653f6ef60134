"""What stands in place of content that is not there, in every convention."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import Interaction
from otel_eval.signals import Span
from otel_eval.testing.spans import message, span

NOTHING = ["null", "None", "undefined", '""', " null\n"]
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
ASKED = json.dumps([message("user", "Where is it?")])
REPLY = json.dumps([message("assistant", "On its way.")])
CALL = {"type": "tool_call", "id": "c1", "name": "track", "arguments": {"id": 7}}
GIVEN = {"type": "tool_call_response", "id": "c1", "response": "sent"}

FRAMES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "genai": ("gen_ai.input.messages", "gen_ai.output.messages", AGENT),
    "openinference": ("input.value", "output.value", {"openinference.span.kind": "AGENT", "agent.name": "shop"}),
    "openllmetry agent": (
        "traceloop.entity.input",
        "traceloop.entity.output",
        {"traceloop.span.kind": "agent", "traceloop.entity.name": "shop"},
    ),
    "openllmetry workflow": (
        "traceloop.entity.input",
        "traceloop.entity.output",
        {"traceloop.span.kind": "workflow", "traceloop.entity.name": "shop"},
    ),
    "langfuse": ("langfuse.observation.input", "langfuse.observation.output", {"langfuse.observation.type": "agent"}),
}
frames = pytest.mark.parametrize("frame", list(FRAMES))


def run(frame: str, written: str, **chat: Any) -> Interaction:
    """An agent of which so much was written, around a model's call."""
    taken, given, own = FRAMES[frame]
    root = span("shop", attributes={**own, taken: written, given: written}, seconds=9)
    (found,) = assemble([root, span("chat m", parent=root, attributes={**CHAT, **chat})])
    return found


@frames
@pytest.mark.parametrize("written", [*NOTHING, "{}"])
def test_the_models_texts_stand(frame: str, written: str) -> None:
    """An agent's span on which nothing was captured does not hide what its model was asked and said."""
    found = run(frame, written, **{"gen_ai.input.messages": ASKED, "gen_ai.output.messages": REPLY})
    assert (found.asked, found.reply) == ("Where is it?", "On its way.")


@frames
@pytest.mark.parametrize("written", [*NOTHING, "{}"])
def test_without_them_there_are_gaps(frame: str, written: str) -> None:
    """Nor is it a text of anybody's."""
    found = run(frame, written)
    assert (found.asked, found.reply) == (None, None)
    assert {"asked", "reply"} <= {gap.field for gap in found.gaps}


@pytest.mark.parametrize("said", ["None", "null", ""])
def test_a_model_may_say_so(said: str) -> None:
    """In a message, the text is a text."""
    found = run("genai", "null", **{"gen_ai.output.messages": json.dumps([message("assistant", said)])})
    assert found.reply == said


@pytest.mark.parametrize("written", NOTHING)
def test_no_instructions(written: str) -> None:
    """Not those of ``str(None)``."""
    facts = facts_of(span("chat m", attributes={**CHAT, "gen_ai.system_instructions": written}))
    assert facts is not None
    assert facts.system is None


def tool(root: Span, **attributes: Any) -> Span:
    """A tool's span of the call that the model asked for."""
    own = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "track", "gen_ai.tool.call.id": "c1"}
    return span("execute_tool", parent=root, attributes={**own, **attributes})


def called(*, told: bool, **attributes: Any) -> Interaction:
    """An agent whose model calls a tool; ``told``: its next call shows what the tool gave."""
    root = span("shop", attributes=AGENT, seconds=9)
    asks = message("assistant", CALL)
    history = json.dumps([message("user", "Where is it?"), asks, message("tool", GIVEN)])
    first = {**CHAT, "gen_ai.input.messages": ASKED, "gen_ai.output.messages": json.dumps([asks])}
    second = {**CHAT, "gen_ai.input.messages": history, "gen_ai.output.messages": REPLY}
    chats = [span("chat m", parent=root, attributes=first)]
    if told:
        chats.append(span("chat m", parent=root, attributes=second, started_ns=root.started_ns + 5_000_000_000))
    (found,) = assemble([root, *chats, tool(root, **attributes)])
    return found


@pytest.mark.parametrize("written", ["null", "None", "undefined"])
@pytest.mark.parametrize(("told", "result", "gaps"), [(True, "sent", set()), (False, None, {"result"})])
def test_no_result(written: str, told: bool, result: str | None, gaps: set[str]) -> None:
    """What the model was shown is what the tool gave."""
    found = called(told=told, **{"gen_ai.tool.call.result": written})
    (call,) = found.tool_calls
    assert (call.result, {gap.field for gap in call.gaps}) == (result, gaps)


def test_a_tool_may_give_an_empty_text() -> None:
    """In the quotes of JSON as well."""
    (call,) = called(told=False, **{"gen_ai.tool.call.result": '""'}).tool_calls
    assert (call.result, call.gaps) == ("", ())


def test_an_operations_name_is_no_tools() -> None:
    """The call's id says which tool it was."""
    found = called(told=True, **{"gen_ai.tool.name": None, "gen_ai.tool.call.result": "sent"})
    (call,) = found.tool_calls
    assert call.name == "track"
    assert call.span_id is not None


@pytest.mark.parametrize("operation", [None, ""])
def test_an_agents_span_without_an_operation(operation: str | None) -> None:
    """The name that it tells is the agent's."""
    own = {"gen_ai.operation.name": operation, "gen_ai.agent.name": "shop", "gen_ai.input.messages": ASKED}
    (found,) = assemble([span("invoke_agent shop", attributes=own)])
    assert (found.agent, found.asked) == ("shop", "Where is it?")


@pytest.mark.parametrize(("name", "agent"), [("invoke_agent shop", "shop"), ("invoke_agent", None)])
def test_a_blank_name_is_none(name: str, agent: str | None) -> None:
    """What else tells the agent's name counts."""
    (found,) = assemble([span(name, attributes={**AGENT, "gen_ai.agent.name": "  "})])
    assert found.agent == agent


@frames
@pytest.mark.parametrize("written", [b"\x00\x01\x02\x03", b"\x89PNG\xff\xfe", b"\xc3"])
def test_bytes_that_are_no_text(frame: str, written: Any) -> None:
    """Control characters and what is not UTF-8."""
    found = run(frame, written)
    assert (found.asked, found.reply) == (None, None)
    assert {"asked", "reply"} <= {gap.field for gap in found.gaps}


def test_bytes_that_are_a_tools_result() -> None:
    """They are a gap, unless they are a text."""
    (call,) = called(told=False, **{"gen_ai.tool.call.result": b"\xff\x00"}).tool_calls
    assert (call.result, [gap.field for gap in call.gaps]) == (None, ["result"])
    (call,) = called(told=False, **{"gen_ai.tool.call.result": "geschickt: ü".encode()}).tool_calls
    assert call.result == "geschickt: ü"
