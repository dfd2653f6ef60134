"""RubyLLM through thoughtbot's instrumentation: calls that nest, and results that are cut."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import START_NS, span

RUBY = Scope("OpenTelemetry::Instrumentation::RubyLLM", "0.7.1")
TEXT = {"type": "text", "content": "Where is 81?"}
CALL = {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"id": 81}}


def ruby(name: str, at: int, seconds: float, parent: Span | None = None, **attributes: Any) -> Span:
    """One of its spans: messages are written as JSON."""
    told = {key: value if isinstance(value, str | int) else json.dumps(value) for key, value in attributes.items()}
    told["gen_ai.operation.name"] = name.split()[0]
    started_ns = START_NS + at * 1_000_000_000
    return span(name, parent=parent, attributes=told, scope=RUBY, started_ns=started_ns, seconds=seconds)


def turn(result: str, **content: Any) -> tuple[Span, ...]:
    """A turn with RubyLLM 1: every call of the model ends with the answer, and tells that one's tokens."""
    counts = {"gen_ai.request.model": "gpt", "gen_ai.usage.input_tokens": 21, **content}
    first = ruby("chat gpt", 0, 30, **counts)
    told = {"gen_ai.tool.name": "find", "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": {"id": 81}}
    tool = ruby("execute_tool find", 5, 1, first, **told, **{"gen_ai.tool.call.result": result})
    return first, tool, ruby("chat gpt", 10, 10, first, **counts)


def test_calls_that_nest_are_one() -> None:
    """Each says all that was said in the turn."""
    said = [
        {"role": "user", "parts": [TEXT]},
        {"role": "assistant", "parts": [CALL]},
        {"role": "tool", "parts": [{"type": "text", "content": "lost"}], "tool_call_id": "c1"},
    ]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "Gone."}]}]
    (found,) = assemble(turn("lost", **{"gen_ai.input.messages": said, "gen_ai.output.messages": answer}))
    assert (found.asked, found.reply, found.usage.input_tokens) == ("Where is 81?", "Gone.", 21)
    assert [(made.name, made.arguments, made.result) for made in found.tool_calls] == [("find", {"id": 81}, "lost")]


@pytest.mark.parametrize(("length", "cut"), [(499, False), (500, True), (501, True), (900, False)])
def test_results_that_are_cut(length: int, *, cut: bool) -> None:
    """Those of exactly the limit's length, which no mark tells; it can be set higher."""
    (found,) = assemble(turn("x" * length))
    (made,) = found.tool_calls
    assert [gap.kind for gap in made.gaps if gap.field.endswith("result")] == ([GapKind.TRUNCATED] if cut else [])
    assert made.result == "x" * length


def test_the_switch() -> None:
    """It is ``true``, and nothing else."""
    (found,) = assemble(turn("lost"))
    (gap,) = [gap for gap in found.gaps if gap.field == "system"]
    assert gap.setting in (None, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true")
