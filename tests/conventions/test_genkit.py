"""Genkit: actions with their input and output in JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, TextPart
from otel_eval.signals import Resource, Span, SpanEvent
from otel_eval.testing.spans import span


def action(subtype: str, name: str, taken: Any = None, given: Any = None, **fields: Any) -> Span:
    """An action; ``util`` for a ``generate``."""
    attributes: dict[str, Any] = {"genkit:type": "util" if subtype == "util" else "action", "genkit:name": name}
    if subtype != "util":
        attributes["genkit:metadata:subtype"] = subtype
    for key, value in (("genkit:input", taken), ("genkit:output", given)):
        if value is not None:
            attributes[key] = json.dumps(value)
    return span(name, attributes=attributes, **fields)


def read(found: Span) -> Facts | None:
    """The facts of that span."""
    return facts_of(found)


@pytest.mark.parametrize(
    ("subtype", "name", "kind"),
    [
        ("flow", "shop", Kind.WORKFLOW),
        ("agent", "shop", Kind.AGENT),
        ("model", "m", Kind.MODEL),
        ("background-model", "m", Kind.MODEL),
        ("tool", "find", Kind.TOOL),
        ("tool.v2", "find", Kind.TOOL),
        ("util", "generate", Kind.WORKFLOW),
        ("util", "render", None),
        ("embedder", "e", None),
        ("executable-prompt", "p", None),
        ("evaluator", "judge", Kind.EVALUATOR),
    ],
)
def test_kinds(subtype: str, name: str, kind: Kind | None) -> None:
    """A span is what its subtype says; a flow is a function of the program."""
    facts = read(action(subtype, name))
    assert (None if facts is None else facts.kind) == kind


def user(said: str) -> dict[str, Any]:
    """The user's message."""
    return {"role": "user", "content": [{"text": said}]}


def test_rounds_of_tools_are_one_invocation() -> None:
    """Each round nests a further generate in the one before, all with the same output: one Interaction."""
    request = {"name": "find", "ref": "c1", "input": {"id": 81}}
    answer = {"message": {"role": "model", "content": [{"text": "Here."}]}, "finishReason": "stop"}
    asking = {"message": {"role": "model", "content": [{"toolRequest": request}]}, "usage": {"inputTokens": 4}}
    flow = action("flow", "shop", "Where is it?", "Here.")
    outer = action("util", "generate", {"messages": [user("Where is it?")]}, answer, parent=flow)
    inner = action("util", "generate", {"messages": [user("Where is it?")]}, answer, parent=outer)
    (found,) = assemble(
        [
            flow,
            outer,
            inner,
            action("model", "m", {"messages": [user("Where is it?")]}, asking, parent=outer),
            action("tool", "find", {"id": 81}, "paid", parent=outer),
            action("model", "m", {"messages": [user("Where is it?")]}, answer, parent=inner, started_ns=2 * 10**18),
        ]
    )
    assert (found.agent, found.asked, found.reply, len(found.model_calls)) == ("shop", "Where is it?", "Here.", 2)
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [("find", {"id": 81}, "paid")]
    assert found.usage.input_tokens == 4


def test_a_generate_without_a_flow_is_an_invocation() -> None:
    """The question is the last of its messages, and nobody has a name."""
    answer = {"message": {"role": "model", "content": [{"text": "Here."}]}, "finishReason": "stop"}
    outer = action("util", "generate", {"messages": [user("Hi"), user("Where is it?")]}, answer)
    (found,) = assemble([outer, action("model", "m", {"messages": [user("Where is it?")]}, answer, parent=outer)])
    assert (found.agent, found.asked, found.reply) == (None, "Where is it?", "Here.")


def test_a_text_that_looks_like_json_is_a_text() -> None:
    """Values are encoded once: what the user typed is not taken apart."""
    facts = read(action("flow", "shop", '{"id": 81}', "[1]"))
    assert facts is not None
    assert (facts.asked, facts.reply) == ('{"id": 81}', "[1]")


def test_a_flow_without_a_model_is_no_invocation() -> None:
    """A function that calls no model is nobody's turn."""
    assert assemble([action("flow", "sum", [1, 2], 3)]) == ()


def test_an_agents_turn() -> None:
    """An agent takes a message and gives one, and says in its output that it failed."""
    failed = {"sessionId": "s", "finishReason": "failed", "error": {"status": "INTERNAL", "message": "boom"}}
    facts = read(action("agent", "shop", {"message": user("Where is it?")}, failed))
    assert facts is not None
    assert facts.agent == "shop"
    assert str(facts.failure) == "INTERNAL: boom"
    assert [message.text for message in facts.input or ()] == ["Where is it?"]


def test_an_interrupt_is_no_failure() -> None:
    """A tool that waits for a human raises, and nothing failed."""
    event = SpanEvent(name="exception", time_ns=1, attributes={"exception.type": "ToolInterruptError"})
    facts = read(action("tool", "ask", {}, status="error", events=(event,)))
    assert facts is not None
    assert facts.error is None
    assert facts.control_flow


def test_redacted_by_the_cloud_plugin() -> None:
    """``<redacted>`` is a gap, and no reply."""
    attributes = {"genkit:type": "action", "genkit:metadata:subtype": "flow", "genkit:output": "<redacted>"}
    facts = read(span("shop", attributes=attributes))
    assert facts is not None
    assert facts.reply is None
    assert [(mark.field, mark.kind) for mark in facts.marks] == [("output", GapKind.REDACTED)]


def test_a_prompt_that_was_called_is_an_agent() -> None:
    """Its name is the agent's; its input are a template's variables, and the question is what the model was sent."""
    prompt = span(
        "helper", attributes={"genkit:type": "dotprompt", "genkit:name": "helper", "genkit:input": '{"text": "81"}'}
    )
    answer = {"message": {"role": "model", "content": [{"text": "Here."}]}, "finishReason": "stop"}
    generate = action("util", "generate", {"messages": [user("Where is 81?")]}, answer, parent=prompt)
    model = action("model", "m", {"messages": [user("Where is 81?")]}, answer, parent=generate)
    (found,) = assemble([prompt, generate, model])
    assert (found.agent, found.asked, found.reply) == ("helper", "Where is 81?", "Here.")


def test_a_structured_answer_is_the_reply() -> None:
    """It stands as data beside the texts."""
    answer = {"message": {"role": "model", "content": [{"data": {"city": "Rome"}}]}, "finishReason": "stop"}
    generate = action("util", "generate", {"messages": [user("Where?")]}, answer)
    (found,) = assemble([generate, action("model", "m", parent=generate)])
    assert found.reply == '{"city":"Rome"}'


def test_pieces_of_a_stream_are_one_text() -> None:
    """Go's plugin for Gemini leaves each piece a part of its own; Genkit joins them without a break."""
    pieces = [{"text": "It is "}, {"text": "paid."}, {"toolRequest": {"name": "find"}}, {"text": "Bye."}]
    facts = read(action("model", "m", {"messages": []}, {"message": {"role": "model", "content": pieces}}))
    assert facts is not None
    (answer,) = facts.output or ()
    assert [part.text for part in answer.parts if isinstance(part, TextPart)] == ["It is paid.", "Bye."]


def test_go_turns_content_on_by_a_name_of_its_own() -> None:
    """The plugin's option is a field there."""
    go = Resource({"telemetry.sdk.language": "go"})
    settings = [
        facts.setting for facts in (read(action("model", "m", resource=each)) for each in (go, Resource())) if facts
    ]
    assert settings == [
        "GoogleCloudTelemetryOptions{DisableLoggingInputAndOutput: false}",
        "enableGoogleCloudTelemetry({disableLoggingInputAndOutput: false})",
    ]
