"""LiveKit Agents and Pipecat."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import span

LIVEKIT, PIPECAT = Scope("livekit-agents"), Scope("pipecat")


def livekit(name: str, prefix: str, attributes: dict[str, Any], **fields: Any) -> Span:
    """A span of LiveKit's, its content under that prefix."""
    return span(name, attributes={prefix + key: value for key, value in attributes.items()}, scope=LIVEKIT, **fields)


@pytest.mark.parametrize("prefix", ["lk.", "lk.pii."])
def test_a_livekit_turn(prefix: str) -> None:
    """A turn of a session, with its tool, before and since content is marked."""
    session = livekit("agent_session", "lk.", {"agent_name": "shop"})
    turn = livekit("agent_turn", prefix, {"user_input": "Where is it?", "response.text": "Here."}, parent=session)
    node = livekit(
        "llm_node",
        prefix,
        {
            "chat_ctx": json.dumps({"items": [{"type": "message", "role": "user", "content": ["Where is it?"]}]}),
            "response.function_calls": '[{"name": "find", "arguments": "{\\"id\\": 81}", "call_id": "c1"}]',
        },
        parent=turn,
    )
    tool = span(
        "function_tool",
        attributes={
            "lk.function_tool.name": "find",
            "lk.function_tool.id": "c1",
            f"{prefix}function_tool.arguments": '{"id": 81}',
            f"{prefix}function_tool.output": "not found",
            "lk.function_tool.is_error": True,
        },
        parent=turn,
        scope=LIVEKIT,
    )
    found = assemble([session, turn, node, tool])[0]
    assert (found.asked, found.reply) == ("Where is it?", "Here.")
    (call,) = found.tool_calls
    assert (call.name, call.arguments, call.result, call.error) == ("find", {"id": 81}, None, "not found")


@pytest.mark.parametrize("name", ["tts_node", "tts_request", "stt_request", "user_turn", "eou_detection"])
def test_speech_is_no_agents_work(name: str) -> None:
    """What is heard and spoken names a model, and is left out."""
    assert (
        facts_of(span(name, attributes={"gen_ai.request.model": "sonic", "lk.input_text": "Hi"}, scope=LIVEKIT)) is None
    )


def test_livekits_own_judge_is_left_out() -> None:
    """Its test runs judge; that is no turn."""
    facts = facts_of(span("judge_evaluation", attributes={"gen_ai.request.model": "m"}, scope=LIVEKIT))
    assert facts is not None
    assert facts.kind is Kind.EVALUATOR


def test_a_pipecat_turn() -> None:
    """Messages stand in ``input``, the spoken text in ``output``, tools in the messages alone."""
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 81}'}}
    history = [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "paid"},
    ]
    talk = span("conversation", attributes={"conversation.id": "t1"}, scope=PIPECAT)
    turn = span("turn", attributes={"conversation.id": "t1", "turn.number": 1}, parent=talk, scope=PIPECAT)
    common = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt"}
    spans = [
        talk,
        turn,
        span("stt", attributes={"gen_ai.request.model": "nova", "transcript": "Where"}, parent=turn, scope=PIPECAT),
        span("llm", attributes={**common, "input": json.dumps(history[:1])}, parent=turn, scope=PIPECAT),
        span(
            "llm",
            attributes={**common, "input": json.dumps(history), "output": "Here."},
            parent=turn,
            scope=PIPECAT,
            started_ns=turn.started_ns + 5,
        ),
    ]
    (found,) = assemble(spans)
    assert (found.session, found.asked, found.reply) == ("t1", "Where is it?", "Here.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [("find", {"id": 81}, "paid")]
    assert {call.model for call in found.model_calls} == {"gpt"}
