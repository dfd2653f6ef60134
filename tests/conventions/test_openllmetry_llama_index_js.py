"""LlamaIndex.TS under OpenLLMetry."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import START_NS, message, span

SCOPE = Scope("@traceloop/instrumentation-llamaindex", "0.27.0")
ASKED = message("user", "Weather in Paris and Rome?")
LOST = message("assistant", "")


def call(messages: list[Any], said: str, second: int = 0, reason: str = "stop") -> Span:
    """A model's call, a trace of its own."""
    return span("chat m", scope=SCOPE, started_ns=START_NS + second * 10**9, attributes={
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps(messages), "gen_ai.response.finish_reasons": [reason],
        "gen_ai.output.messages": json.dumps([message("assistant", said)])})  # fmt: skip


def test_results_are_no_questions() -> None:
    """What tools gave stands as messages of a user; the calls are one Interaction, whose tools are not captured."""
    history = [ASKED, LOST, message("user", "18C cloudy"), message("user", "25C sunny")]
    (found,) = assemble([call([ASKED], "", reason="tool_call"), call(history, "Cloudy and sunny.", 5)])
    assert (found.asked, found.reply, found.tool_calls) == ("Weather in Paris and Rome?", "Cloudy and sunny.", ())
    assert found.gap("tool_calls") is not None


def test_what_follows_an_answer_is_a_question() -> None:
    """Only an empty answer is a request for tools."""
    facts = facts_of(call([ASKED, message("assistant", "Cloudy."), message("user", "Thanks")], "Welcome."))
    assert facts is not None
    assert [said.role for said in facts.input or ()] == ["user", "assistant", "user"]
