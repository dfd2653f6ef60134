"""Agents of Microsoft Foundry, as Azure's SDKs write of them."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, START_NS, span

AZURE = Scope("azure.core.tracing.ext.opentelemetry_span")


def request(*, given: list[Any], said: list[Any], at: int, parent: Span | None = None) -> Span:
    """One request to a Foundry agent: the parts that went in, and those that came out."""
    role = "tool" if given[0]["type"] == "tool_call_response" else "user"
    told = {
        "az.namespace": "Microsoft.CognitiveServices",
        "gen_ai.provider.name": "microsoft.foundry",
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": "conv_1",
        "gen_ai.agent.name": "helper",
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.input.messages": json.dumps([{"role": role, "parts": given}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": said}]),
    }
    return span(
        "invoke_agent helper", attributes=told, started_ns=START_NS + at * SECOND_NS, parent=parent, scope=AZURE
    )


ASKS = {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": '{"order": 81}'}


def test_requests_to_a_foundry_agent_are_one_turn() -> None:
    """The caller runs the function, and hands its result over in the next request, also in another trace."""
    first = request(given=[{"type": "text", "content": "Refund 81"}], said=[ASKS], at=1)
    result = {"type": "tool_call_response", "id": "c1", "result": {"state": "paid"}}
    second = request(given=[result], said=[{"type": "text", "content": "Done."}], at=3)

    (turn,) = assemble([first, second])

    assert (turn.agent, turn.session, turn.asked, turn.reply) == ("helper", "conv_1", "Refund 81", "Done.")
    (call,) = turn.tool_calls or ()
    assert (call.name, call.arguments, call.result) == ("get_order", {"order": 81}, {"state": "paid"})
    assert (turn.usage.input_tokens, len(turn.model_calls)) == (22, 2)


def test_requests_without_content_are_one_turn_below_their_span() -> None:
    """The messages keep their shape alone; what they said was not captured."""
    top = span("handle question")
    first = request(given=[{"type": "text"}], said=[{"type": "tool_call", "id": "c1"}], at=1, parent=top)
    second = request(given=[{"type": "tool_call_response", "id": "c1"}], said=[{"type": "text"}], at=3, parent=top)

    (turn,) = assemble([top, first, second])

    assert (turn.asked, turn.reply, len(turn.model_calls)) == (None, None, 2)
    assert {gap.field for gap in turn.gaps if gap.kind in (GapKind.NOT_CAPTURED, GapKind.INCOMPLETE)} >= {
        "asked",
        "reply",
    }


def test_inference_writes_its_messages_as_json_in_one_attribute_of_each_event() -> None:
    """azure-ai-inference 1.0.0b9, with AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true."""
    call = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"cents": 5}'}}
    system = ("gen_ai.system.message", {"role": "system", "content": "Be kind."})
    user = ("gen_ai.user.message", {"role": "user", "content": "Refund it."})
    wants = ("gen_ai.choice", {"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"})
    given = ("gen_ai.tool.message", {"role": "tool", "tool_call_id": "c1", "content": "done"})
    asked = ("gen_ai.assistant.message", {"role": "assistant", "content": None, "tool_calls": [call]})
    said = ("gen_ai.choice", {"message": {"content": "It is refunded."}, "finish_reason": "stop", "index": 0})
    chat = {"gen_ai.operation.name": "chat", "gen_ai.system": "az.ai.inference", "gen_ai.request.model": "m"}
    calls = [
        span(
            "chat m",
            attributes=chat,
            events=tuple(SpanEvent(name, 0, {"gen_ai.event.content": json.dumps(body)}) for name, body in told),
            started_ns=START_NS + at,
        )
        for at, told in enumerate(([system, user, wants], [system, user, asked, given, said]))
    ]
    (found,) = assemble(calls)
    assert (found.system, found.asked, found.reply) == ("Be kind.", "Refund it.", "It is refunded.")
    assert [(tool.name, tool.arguments, tool.result) for tool in found.tool_calls] == [("refund", {"cents": 5}, "done")]
