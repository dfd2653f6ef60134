"""Microsoft's Prompt flow: traced functions around the calls of a model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

FLOW = Scope("promptflow")
CALL = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"order": 81}'}}


def traced(
    name: str, kind: str, taken: Any, given: Any, *, parent: Span | None = None, at: int = 0, **more: Any
) -> Span:
    """A span of a function that took and gave that."""
    told = {"framework": "promptflow", "span_type": kind, "inputs": json.dumps(taken), "output": json.dumps(given)}
    return span(
        name,
        attributes={**told, **more},
        parent=parent,
        scope=FLOW,
        started_ns=START_NS + at * SECOND_NS,
        seconds=1 + at,
    )


def asked_of(messages: list[Any], said: dict[str, Any], *, parent: Span, at: int, streamed: bool) -> Span:
    """A call of a model through OpenAI's client."""
    given: Any = ["chunk"] if streamed else {"id": f"r{at}", "choices": [{"message": said}]}
    return traced(
        "openai_chat",
        "LLM",
        {"model": "gpt-4o", "messages": messages, "stream": streamed},
        given,
        parent=parent,
        at=at,
        **{"llm.generated_message": json.dumps(said), "llm.response.model": "gpt-4o", "llm.usage.prompt_tokens": 11},
    )


@pytest.mark.parametrize("streamed", [False, True])
def test_a_function_around_its_models_is_an_interaction(*, streamed: bool) -> None:
    """What it took and gave is the question and the answer; its tools are those that the model asked for."""
    flow = traced("answer", "Function", {"question": "Refund 81"}, "Done.")
    user = {"role": "user", "content": "Refund 81"}
    asking = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "paid"}
    answer = {"role": "assistant", "content": "Done."}
    first = asked_of([user], asking, parent=flow, at=1, streamed=streamed)
    tool = traced("get_order", "Function", {"order": 81}, "paid", parent=flow, at=2)
    second = asked_of([user, asking, result], answer, parent=flow, at=3, streamed=streamed)

    (turn,) = assemble([flow, first, tool, second])

    assert (turn.agent, turn.asked, turn.reply, turn.model) == ("answer", "Refund 81", "Done.", "gpt-4o")
    assert [(call.name, call.arguments, call.result) for call in turn.tool_calls or ()] == [
        ("get_order", {"order": 81}, "paid")
    ]
    assert turn.usage.input_tokens == 22


@pytest.mark.parametrize("kind", ["Embedding", "Retrieval", "Tool"])
def test_other_kinds_are_ordinary(kind: str) -> None:
    """Neither a model's call nor around one."""
    assert facts_of(traced("embed", kind, {}, [])) is None
