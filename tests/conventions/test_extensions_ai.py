"""Microsoft.Extensions.AI and Agent Framework for .NET, as their sources write spans."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind
from otel_eval.signals import Resource, Scope, Span
from otel_eval.testing.spans import SECOND_NS, message, model_span, span, tool_span

SCOPE = Scope("Experimental.Microsoft.Extensions.AI")
DOTNET = Resource({"service.name": "shop", "telemetry.sdk.language": "dotnet"})

ASKED = message("user", "Refund o_9")
CALL = message("assistant", {"type": "tool_call", "id": "k1", "name": "refund", "arguments": {"id": "o_9"}})
RESULT = message("tool", {"type": "tool_call_response", "id": "k1", "response": "done"})
SAID = message("assistant", "Refunded.")


def chat(*, loop: Span | None = None, after: int = 0, finish: str = "stop", **fields: Any) -> Span:
    """``chat``, some seconds after its loop began."""
    started = {} if loop is None else {"started_ns": loop.started_ns + after * SECOND_NS}
    reasons = {"gen_ai.response.finish_reasons": json.dumps([finish])}
    return model_span(parent=loop, scope=SCOPE, resource=DOTNET, attributes=reasons, **started, **fields)


def loop_span(parent: Span | None = None) -> Span:
    """Around all that a client does that calls functions; without any attribute."""
    return span("orchestrate_tools", parent=parent, scope=SCOPE, resource=DOTNET, seconds=9)


def test_the_loop_is_no_agent() -> None:
    """Nor has an agent its name; the loop's calls are one Interaction."""
    loop = loop_span(span("POST /chat", seconds=10))
    first = chat(loop=loop, after=1, finish="tool_calls", messages=[ASKED], output=[CALL])
    tool = tool_span("refund", {"id": "o_9"}, "done", parent=loop, call_id="k1", started_ns=first.ended_ns)
    last = chat(loop=loop, after=4, messages=[ASKED, CALL, RESULT], output=[SAID])
    (found,) = assemble([loop, first, tool, last])
    assert (found.agent, found.asked, found.reply, len(found.model_calls)) == (None, "Refund o_9", "Refunded.", 2)
    assert [(call.name, call.result) for call in found.tool_calls] == [("refund", "done")]


def test_one_chat_around_the_loop() -> None:
    """Its output holds the calls and their results before the answer."""
    (found,) = assemble([chat(messages=[ASKED], output=[CALL, RESULT, SAID])])
    assert (found.reply, found.complete) == ("Refunded.", True)
    assert [(call.name, call.result) for call in found.tool_calls] == [("refund", "done")]


def test_one_chat_around_a_loop_that_goes_on() -> None:
    """What it said before it called a tool is no answer."""
    (found,) = assemble([chat(messages=[ASKED], output=[SAID, CALL, RESULT])])
    assert (found.reply, found.complete) == (None, False)


def test_what_a_loop_without_content_lacks() -> None:
    """The switch that would tell is named, also while nothing tells that the loop is over."""
    loop = loop_span()
    (found,) = assemble([loop, chat(loop=loop, after=1), chat(loop=loop, after=3, finish="tool_calls")])
    assert {(gap.field, gap.kind, gap.setting) for gap in found.gaps if gap.field in ("asked", "reply")} == {
        (name, GapKind.NOT_CAPTURED, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true")
        for name in ("asked", "reply")
    }
    assert not found.complete


def test_a_chat_around_the_loop_and_one_for_each_call() -> None:
    """The outer one is no further call, and no Interaction of its own."""
    around = chat(messages=[ASKED], output=[CALL, RESULT, SAID], seconds=10)
    loop = loop_span(around)
    first = chat(loop=loop, after=1, finish="tool_calls", messages=[ASKED], output=[CALL])
    last = chat(loop=loop, after=4, messages=[ASKED, CALL, RESULT], output=[SAID])
    (found,) = assemble([around, loop, first, last])
    assert (found.reply, len(found.model_calls), found.usage.input_tokens) == ("Refunded.", 2, 200)
