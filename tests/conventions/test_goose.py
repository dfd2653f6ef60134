"""goose and the crate genai: the standard's attributes, exported by tracing-opentelemetry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import Interaction
from otel_eval.signals import Span
from otel_eval.testing.spans import START_NS, span

SETTING = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"


def goose(operation: str, parent: Span | None = None, at: int = 0, **attributes: Any) -> Span:
    """One of goose's spans, that many seconds after the beginning."""
    told = {"target": "goose::state_machine", "gen_ai.operation.name": operation, "session.id": "s1", **attributes}
    return span(operation, parent=parent, attributes=told, started_ns=START_NS + at * 1_000_000_000)


def turn(*inside: tuple[str, dict[str, Any]], **attributes: Any) -> Interaction:
    """A turn and what is below it, in order."""
    own = goose("invoke_agent", **{"gen_ai.agent.name": "goose", "trace_input": "List [1].", **attributes})
    (found,) = assemble((own, *(goose(kind, own, at, **told) for at, (kind, told) in enumerate(inside))))
    return found


def test_a_turn_has_its_texts() -> None:
    """They come before the messages; the session is goose's own."""
    said = json.dumps([{"role": "assistant", "content": "It is a.txt", "finish_reason": "stop"}])
    found = turn(trace_output="It is a.txt", **{"gen_ai.output.messages": said, "gen_ai.conversation.id": "s1"})
    assert (found.agent, found.session, found.asked, found.reply) == ("goose", "s1", "List [1].", "It is a.txt")


@pytest.mark.parametrize(
    ("attributes", "result", "error"),
    [
        (
            {"gen_ai.tool.call.result": {"content": [{"type": "text", "text": "a.txt"}], "isError": False}},
            "a.txt",
            None,
        ),
        ({"output": {"status": "success", "value": {"content": [{"type": "text", "text": "a.txt"}]}}}, None, None),
        (
            {
                "output": {
                    "status": "error",
                    "value": {"content": [{"type": "text", "text": "no such file"}], "isError": True},
                }
            },
            None,
            "no such file",
        ),
        ({"output": {"status": "error", "error": "-32603: gone"}, "error.type": "tool_error"}, None, "-32603: gone"),
        ({"error.type": "tool_error"}, None, "tool_error"),
    ],
)
def test_tools_give_what_mcp_gives(attributes: dict[str, Any], result: str | None, error: str | None) -> None:
    """Content without its envelope; a failure in ``output``, else in the error's type alone."""
    written = {key: value if isinstance(value, str) else json.dumps(value) for key, value in attributes.items()}
    tool = {"gen_ai.tool.name": "shell", "gen_ai.tool.call.arguments": '{"command":"ls"}', **written}
    (call,) = turn(("execute_tool", tool)).tool_calls
    assert (call.name, call.arguments, call.result, call.error) == ("shell", {"command": "ls"}, result, error)


def test_summing_a_conversation_up_is_no_part_of_it() -> None:
    """The model that does it is called within a turn."""
    model = {"gen_ai.request.model": "m", "gen_ai.usage.output_tokens": 3}
    found = turn(("chat", {**model, "goose.chat.purpose": "compaction"}), ("chat", model))
    assert len(found.model_calls) == 1
    assert {gap.setting for gap in found.gaps if gap.field in ("reply", "system")} == {SETTING}


def test_the_switch_of_the_crate_genai() -> None:
    """It takes ``true``, and not the words of the standard; its evaluations are no model calls."""
    chat = {"target": "genai::otel::span", "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt"}
    judged = {"target": "genai::otel::events", "gen_ai.evaluation.name": "Relevance", "gen_ai.response.id": "r1"}
    (found,) = assemble((span("chat gpt", attributes=chat), span("gen_ai.evaluation.result", attributes=judged)))
    assert len(found.model_calls) == 1
    assert {gap.setting for gap in found.gaps if gap.field == "asked"} <= {SETTING, None}
    assert found.conventions == ("genai", "genai-rust")
