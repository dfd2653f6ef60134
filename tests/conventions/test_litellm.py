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
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import message, span

STANDARD = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
SECOND = {"litellm.call_id": "l1", "litellm.call_type": "acompletion"}
PHOENIX = {"openinference.span.kind": "LLM", "llm.model_name": "m", "llm.response.id": "r1"}
LANGFUSE = {"langfuse.observation.type": "generation"}


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


def test_what_its_callback_writes_over_an_agents_span_leaves_it_the_agents() -> None:
    """LiteLLM writes onto the span that it finds: the operation is then its call type, the agent's name stays."""
    over = {"gen_ai.operation.name": "acompletion", "gen_ai.agent.name": "shop", "litellm.call_id": "l1"}
    found = facts_of(span("invoke_agent shop", attributes=over))
    assert found is not None
    assert (found.kind, found.agent) == (Kind.AGENT, "shop")


def test_a_guardrails_span_is_no_agents_work() -> None:
    """A span without an operation, in no vocabulary, is an ordinary one."""
    assert facts_of(called("execute_guardrail pii", **{"litellm.guardrail.name": "pii"})) is None
