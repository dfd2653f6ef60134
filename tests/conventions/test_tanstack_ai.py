"""TanStack AI's middleware."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import Span
from otel_eval.testing.spans import span

ASKED = {"role": "user", "content": "Where is o_9?"}


def run(**attributes: Any) -> Span:
    """A run of ``chat()`` that ended."""
    return span("chat m", attributes={"gen_ai.request.model": "m", "tanstack.ai.iterations": 2, **attributes})


def iteration(parent: Span, number: int, **attributes: Any) -> Span:
    """One call of the model."""
    own = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "tanstack.ai.iteration": number}
    own["gen_ai.usage.input_tokens"] = 20
    return span(f"chat m #{number}", parent=parent, started_ns=parent.started_ns + number, attributes=own | attributes)


def tool(parent: Span | None = None, outcome: str = "success", gave: str | None = '{"status":"sent"}') -> Span:
    """A tool's span."""
    own: dict[str, Any] = {
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.id": "c1",
        "tanstack.ai.tool.outcome": outcome,
    }
    for key, value in (("input", '{"id":"o_9"}'), ("output", gave)):
        if value is not None:
            own[f"gen_ai.{key}.messages"] = json.dumps([{"role": "tool", "content": value}])
    return span("execute_tool get_order", parent=parent, attributes=own)


def test_a_run() -> None:
    """The whole run's messages stand under Langfuse's names, the tools' within the model's calls."""
    said = [{"role": "assistant", "content": "It was sent."}]
    root = run(**{
        "langfuse.observation.input": json.dumps([{"role": "system", "content": "Be kind."}, ASKED]),
        "langfuse.observation.output": json.dumps(said)})  # fmt: skip
    first = iteration(root, 0, **{"gen_ai.input.messages": json.dumps([ASKED])})
    last = iteration(root, 1, **{"gen_ai.output.messages": json.dumps(said)})
    (found,) = assemble([root, first, tool(first), last])
    assert (found.asked, found.reply, found.usage.input_tokens) == ("Where is o_9?", "It was sent.", 40)
    assert [(c.name, c.arguments, c.result, c.call_id) for c in found.tool_calls] == [
        ("get_order", {"id": "o_9"}, {"status": "sent"}, "c1")
    ]


@pytest.mark.parametrize(
    ("outcome", "gave", "result", "error"),
    [
        ("success", "18C", "18C", None),
        ("error", "null", MISSING, "tanstack.ai.tool.outcome is error"),
        ("success", "[REDACTED]", MISSING, None),
        ("success", None, MISSING, None),
    ],
)
def test_what_a_tool_gave(outcome: str, gave: str | None, result: Any, error: str | None) -> None:
    """Of a failure the result is null, which is none."""
    found = facts_of(tool(None, outcome, gave))
    assert found is not None
    assert (found.result, found.error) == (result, error)


def test_without_content_the_gap_names_the_switch() -> None:
    """Content is off unless it is switched on."""
    root = run()
    (found,) = assemble([root, iteration(root, 0)])
    gap = found.gap("reply")
    assert gap is not None
    assert gap.setting == "otelMiddleware({captureContent: true})"
