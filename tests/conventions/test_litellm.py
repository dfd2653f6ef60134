"""Spans of LiteLLM's callbacks, in the vocabularies of several vendors."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.litellm import FIRST_SETTING
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import message, span

STANDARD = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
SECOND = {"litellm.call_id": "l1", "litellm.call_type": "acompletion"}
PHOENIX = {"openinference.span.kind": "LLM", "llm.model_name": "m", "llm.response.id": "r1"}
LANGFUSE = {"langfuse.observation.type": "generation"}

CALLS = {"output.value": json.dumps({"tool_calls": [{"id": "c1", "function": {"name": "refund", "arguments": "{}"}}]})}


def called(name: str, **attributes: Any) -> Span:
    """A span in LiteLLM's scope."""
    return span(name, scope=Scope("litellm"), attributes=attributes)


@pytest.mark.parametrize(
    ("attributes", "setting"),
    [
        (CHAT, FIRST_SETTING),
        (PHOENIX, FIRST_SETTING),
        (LANGFUSE, FIRST_SETTING),
        (CHAT | SECOND, STANDARD),
        (CHAT | SECOND | PHOENIX, STANDARD),
        (CHAT | SECOND | LANGFUSE, STANDARD),
    ],
    ids=["otel", "arize_phoenix", "langfuse_otel", "otel 2", "arize_phoenix 2", "langfuse_otel 2"],
)
def test_gaps_name_litellms_own_switch(attributes: dict[str, Any], setting: str) -> None:
    """Whose vocabulary it is does not matter: the callbacks with ``LITELLM_OTEL_V2`` have the standard's switch."""
    found = facts_of(called("chat m", **attributes))
    assert found is not None
    assert found.setting == setting


def test_a_call_written_by_two_callbacks_is_one() -> None:
    """Each callback has a trace of its own, in another vocabulary: the response is the same."""
    said = {
        "gen_ai.response.id": "r1",
        "gen_ai.input.messages": json.dumps([message("user", "Where is it?")]),
        "gen_ai.output.messages": json.dumps([message("assistant", "Here.")]),
    }
    phoenix = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Where is it?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Here.",
    }
    spans = [called("chat m", **CHAT, **SECOND, **said), called("litellm_request", **PHOENIX, **phoenix)]
    (found,) = assemble([spans[0], replace(spans[1], trace_id="e" * 32)])
    assert (found.asked, found.reply, len(found.model_calls)) == ("Where is it?", "Here.", 1)


@pytest.mark.parametrize(
    "over",
    [
        {"gen_ai.operation.name": "acompletion", "litellm.call_id": "l1"},
        {"gen_ai.operation.name": "invoke_agent", "litellm.trace_id": "t1", **PHOENIX, **LANGFUSE, **CALLS},
    ],
    ids=["otel", "langfuse_otel"],
)
def test_an_agents_span_that_its_callback_writes_over_stays_the_agents(over: dict[str, Any]) -> None:
    """LiteLLM writes onto the span that it finds; the name and the agent's stay."""
    found = facts_of(span("invoke_agent shop", attributes=over | {"gen_ai.agent.name": "shop"}))
    assert found is not None
    assert (found.kind, found.agent, found.reply) == (Kind.AGENT, "shop", None)


def raw(parent: Span, asked: Any, at: int = 0, **parts: Any) -> Span:
    """The provider's own request and response, as Python writes them, some nanoseconds after its parent's start."""
    told = {f"llm.openai.{key}": str(value) for key, value in ({"messages": asked} | parts).items()}
    started = parent.started_ns + at
    return span("raw_gen_ai_request", parent=parent, scope=Scope("litellm"), attributes=told, started_ns=started)


def test_calls_that_stand_in_raw_requests_alone() -> None:
    """Below a program's span, the first callback writes nothing else of the call that answers."""
    agent = span("invoke_agent shop", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"})
    question = {"role": "user", "content": "Refund order 81"}
    call = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": 81}'}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call]}
    given = {"role": "tool", "tool_call_id": "c1", "content": "paid"}
    used = {"usage": {"prompt_tokens": 10, "completion_tokens": 3}}
    first = raw(agent, [question], id="r1", choices=[{"index": 0, "message": asks}], **used)
    said = [{"index": 0, "message": {"role": "assistant", "content": "Done."}}]
    second = raw(agent, [question, asks, given], at=9, id="r2", choices=said, **used)
    (found,) = assemble([agent, first, second])
    assert (found.agent, found.asked, found.reply, found.usage.input_tokens) == ("shop", "Refund order 81", "Done.", 20)
    assert [(made.name, made.arguments, made.result) for made in found.tool_calls] == [
        ("get_order", {"id": 81}, "paid")
    ]


def test_a_raw_request_without_an_answer_says_nothing() -> None:
    """Of a stream there is none."""
    assert facts_of(raw(span("x"), [{"role": "user", "content": "hi"}], stream=True)) is None


def test_a_guardrails_span_is_no_agents_work() -> None:
    """A span without an operation, in no vocabulary, is an ordinary one."""
    assert facts_of(called("execute_guardrail pii", **{"litellm.guardrail.name": "pii"})) is None


def test_the_providers_request_is_told_to_be_cut() -> None:
    """As Python writes it, it is no question of anybody's when a length limit cut it off."""
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is it?"}]
    choices = [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Here."}}]
    sent = {"llm.openai.messages": repr(messages)[:60], "llm.openai.choices": repr(choices), "llm.openai.model": "m"}
    (found,) = assemble([called("raw_gen_ai_request", **sent)])
    assert (found.asked, found.reply) == (None, "Here.")
    assert {gap.field: gap.kind for gap in found.gaps}["asked"] is GapKind.TRUNCATED
