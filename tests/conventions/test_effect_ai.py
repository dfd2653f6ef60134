"""Effect's AI packages: calls of a model and of tools, without what was said."""

from __future__ import annotations

from typing import Any

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

SCOPE = Scope("shop", "")


def effect(name: str, parent: Span | None, second: int, **fields: Any) -> Span:
    """A span of a second, in the scope of the service."""
    times = {"started_ns": START_NS + second * SECOND_NS, "ended_ns": START_NS + (second + 1) * SECOND_NS}
    return span(name, parent=parent, scope=SCOPE, **{**times, **fields})


def call(parent: Span, second: int) -> list[Span]:
    """A chat's call of the model."""
    said = {
        "gen_ai.system": "openai",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-x",
        "gen_ai.response.id": f"resp_{second}",
        "gen_ai.usage.input_tokens": 21,
    }
    chat = effect("Chat.generateText", parent, second)
    return [chat, effect("LanguageModel.generateText", chat, second, attributes=said)]


def test_a_loop_over_a_chat() -> None:
    """Its calls are one Interaction, a chat's span and the call within it one call, and the tool is its own."""
    root = effect("handle", None, 0, ended_ns=START_NS + 9 * SECOND_NS)
    first = call(root, 1)
    given = {"tool": "order", "parameters": '{\n  "id": "A81"\n}'}
    tool = effect("Toolkit.handle", first[1], 1, attributes=given)
    (found,) = assemble([root, *first, tool, *call(root, 4)])
    assert [(tool.name, tool.arguments, tool.result) for tool in found.tool_calls] == [("order", {"id": "A81"}, None)]
    assert (len(found.model_calls), found.usage.input_tokens, found.model) == (2, 42, "gpt-x")
    gap = found.gap("asked")
    assert gap is not None
    assert gap.setting is not None
    assert "CurrentSpanTransformer" in gap.setting


def test_a_tool_that_fails() -> None:
    """What it failed with is its error; a span of another's with such a name is nobody's tool."""
    failed = effect("Toolkit.handle", None, 0, attributes={"tool": "pay"}, status="error", status_message="declined")
    found = facts_of(failed)
    assert found is not None
    assert (found.kind, found.tool, found.error) == (Kind.TOOL, "pay", "declined")
    assert facts_of(effect("Toolkit.handle", None, 0)) is None
