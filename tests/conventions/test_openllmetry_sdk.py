"""Model calls that a program logs through Traceloop's SDK for Go."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Kind, Mark
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, Usage
from otel_eval.signals import Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

ASKED = {"llm.prompts.0.role": "system", "llm.prompts.0.content": "Be brief.", "llm.prompts.1.role": "user"}
ASKED["llm.prompts.1.content"] = "Where is order 81?"
CALL = {"id": "c1", "type": "function", "name": "find", "arguments": '{"id":81}'}


def calls(prefix: str) -> dict[str, str]:
    """A message that asks for a tool, as the SDK spreads it."""
    return {
        f"{prefix}.role": "assistant",
        f"{prefix}.content": "",
        **{f"{prefix}.tool_calls.0.{key}": value for key, value in CALL.items()},
    }


def logged(at: float, parent: Span | None = None, **attributes: Any) -> Span:
    """A model call, ``at`` seconds after the start."""
    own = {"llm.vendor": "openai", "llm.request.type": "chat", "llm.request.model": "gpt-4o"}
    tokens = {"llm.usage.prompt_tokens": 7, "llm.usage.completion_tokens": 2}
    return span(
        "openai.chat",
        parent=parent,
        attributes={**own, **tokens, **attributes},
        started_ns=START_NS + round(at * SECOND_NS),
        seconds=0.5,
    )


def test_a_workflow_with_logged_calls() -> None:
    """The loop below the SDK's workflow: its calls tell of the tools, whose spans say nothing."""
    workflow = span(
        "shop.workflow",
        attributes={"traceloop.span.kind": "workflow", "traceloop.entity.name": "shop"},
        seconds=9,
    )
    answered = {"llm.prompts.3.role": "tool", "llm.prompts.3.content": "paid"}
    (found,) = assemble(
        [
            workflow,
            logged(1, workflow, **ASKED, **calls("llm.completions.0")),
            logged(
                2,
                workflow,
                **ASKED,
                **calls("llm.prompts.2"),
                **answered,
                **{"llm.completions.0.role": "assistant", "llm.completions.0.content": "It is paid."},
            ),
        ]
    )
    assert (found.agent, found.asked, found.reply) == ("shop", "Where is order 81?", "It is paid.")
    (call,) = found.tool_calls
    assert (call.name, call.call_id, call.arguments, call.result) == ("find", "c1", {"id": 81}, "paid")
    assert found.usage == Usage(input_tokens=14, output_tokens=4)


def test_hidden_texts_are_marked() -> None:
    """What a processor put in place of a text is no text."""
    facts = facts_of(logged(0, None, **{"llm.prompts.0.role": "user", "llm.prompts.0.content": "[REDACTED]"}))
    assert facts is not None
    assert facts.marks == (Mark(field="input", kind=GapKind.REDACTED),)


@pytest.mark.parametrize(
    "attributes",
    [
        {"llm.request.type": "embedding", **ASKED},
        {"llm.request.type": "chat"},
    ],
)
def test_what_is_no_logged_call(attributes: dict[str, Any]) -> None:
    """An embedding, or a type without any message."""
    assert facts_of(span("openai.chat", attributes=attributes)) is None


def test_genai_goes_first() -> None:
    """OpenLLMetry's instrumentations write the type of request as well, beside GenAI's names."""
    told = {"gen_ai.system": "openai", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hello"}
    facts = facts_of(span("openai.chat", attributes={"llm.request.type": "chat", "gen_ai.request.model": "m", **told}))
    assert facts is not None
    assert (facts.kind, facts.conventions) == (Kind.MODEL, ("genai",))
