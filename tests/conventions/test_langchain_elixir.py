"""LangChain for Elixir: what a chain's span says was asked is what the conversation began with."""

from __future__ import annotations

import json
from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Resource, Scope, Span
from otel_eval.testing.spans import span

ELIXIR = Resource({"service.name": "shop", "telemetry.sdk.language": "erlang"})


def elixir(name: str, parent: Span | None = None, **attributes: Any) -> Span:
    """One of its spans: messages are written as JSON."""
    written = {key: value if isinstance(value, str) else json.dumps(value) for key, value in attributes.items()}
    operation = {"gen_ai.operation.name": name.split()[0]}
    return span(name, parent=parent, attributes=operation | written, resource=ELIXIR, scope=Scope("langchain", "0.9.5"))


def said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def test_a_further_turn_is_asked_what_the_model_was_asked() -> None:
    """Before, every turn of a chain was judged by its first question."""
    answer = {"gen_ai.output.messages": [said("assistant", "Gone.")]}
    told = [said("user", "Hello"), said("assistant", "Hi"), said("user", "Where is 81?")]
    chain = elixir("invoke_agent llm_chain", **{"gen_ai.input.messages": told[:1], **answer})
    model = {"gen_ai.request.model": "gpt", "gen_ai.input.messages": told, **answer}
    (found,) = assemble((chain, elixir("chat gpt", chain, **model)))
    assert (found.asked, found.reply) == ("Where is 81?", "Gone.")
    assert [message.text for message in found.history] == ["Hello", "Hi"]


def test_content_is_off_until_each_kind_of_it_is_asked_for() -> None:
    """Of a program in another language the scope's name says nothing."""
    chain = elixir("invoke_agent llm_chain")
    (found,) = assemble((chain, elixir("chat gpt", chain, **{"gen_ai.request.model": "gpt"})))
    (gap,) = [gap for gap in found.gaps if gap.field == "asked"]
    assert str(gap.setting).startswith("LangChain.OpenTelemetry.setup(capture_input_messages: true")
    asked = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": json.dumps([said("user", "Hello")])}
    (other,) = assemble((span("invoke_agent shop", attributes=asked, scope=Scope("langchain")),))
    assert other.asked == "Hello"
