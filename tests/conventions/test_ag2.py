"""AG2 until 1.0: a conversation is one Interaction, whoever replies in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

AG2 = Scope("opentelemetry.instrumentation.ag2", "0.14.0")
MODEL = {"gen_ai.request.model": "m"}


def said(role: str, text: str) -> dict[str, Any]:
    """A message of one text."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


CALL = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "refund", "arguments": {"id": "o_9"}}]}


def ag2(
    kind: str,
    operation: str,
    name: str,
    parent: Span | None = None,
    second: int = 0,
    *,
    taken: Any = None,
    given: Any = None,
    **more: Any,
) -> Span:
    """A span of that type; ``taken`` and ``given`` are messages."""
    attributes = {"ag2.span.type": kind, "gen_ai.operation.name": operation, "gen_ai.agent.name": name, **more}
    for key, value in (("gen_ai.input.messages", taken), ("gen_ai.output.messages", given)):
        if value is not None:
            attributes[key] = json.dumps(value)
    started = START_NS + second * SECOND_NS
    return span(f"{operation} {name}", parent=parent, attributes=attributes, scope=AG2, started_ns=started)


def chat(*, models: bool = True) -> list[Span]:
    """A customer's proxy begins a conversation with an agent, and runs the tool that the agent's model asks for."""
    asked, reply = said("user", "Refund o_9"), "Done."
    seen = [said("assistant", "Refund o_9"), CALL, said("tool", "refunded"), said("user", reply)]  # by who began
    root = ag2("conversation", "conversation", "customer", taken=[asked], given=seen, **MODEL)
    first = ag2("agent", "invoke_agent", "bob", root, 1, taken=[asked], given=[CALL], **MODEL)
    proxy = ag2("agent", "invoke_agent", "customer", root, 2, taken=seen[:2], given=[said("tool", "refunded")])
    tool_attributes = {
        "ag2.span.type": "tool",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "refund",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"id": "o_9"}',
        "gen_ai.tool.call.result": "refunded",
    }
    tool = span(
        "execute_tool refund",
        parent=proxy,
        attributes=tool_attributes,
        scope=AG2,
        started_ns=START_NS + 2 * SECOND_NS,
    )
    second = ag2("agent", "invoke_agent", "bob", root, 3, given=[said("assistant", reply)], **MODEL)
    end = ag2("agent", "invoke_agent", "customer", root, 4, taken=seen)
    spans = [root, first, proxy, tool, second, end]
    if models:
        shown = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "refunded"}]}
        spans += [
            ag2("llm", "chat", "bob", first, 1, taken=[said("system", "Be kind."), asked], given=[CALL], **MODEL),
            ag2(
                "llm",
                "chat",
                "bob",
                second,
                3,
                taken=[said("system", "Be kind."), asked, CALL, shown],
                given=[said("assistant", reply)],
                **MODEL,
            ),
        ]
    return spans


def test_a_conversation_is_one_interaction() -> None:
    """Not one for each reply in it; what the proxy sees as the user's is the agent's."""
    [found] = assemble(chat())
    assert (found.agent, found.asked, found.reply, found.system) == ("bob", "Refund o_9", "Done.", "Be kind.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("refund", {"id": "o_9"}, "refunded")
    ]


def test_a_conversation_whose_models_are_not_traced() -> None:
    """``instrument_agent`` alone writes what was asked, replied and run."""
    [found] = assemble(chat(models=False))
    assert (found.agent, found.asked, found.reply) == ("bob", "Refund o_9", "Done.")
    assert [call.name for call in found.tool_calls] == ["refund"]


def test_a_single_reply_is_an_interaction_where_that_was_all() -> None:
    """``generate_reply`` without a conversation."""
    asked, reply = said("user", "Hi"), said("assistant", "Hello")
    agent = ag2("agent", "invoke_agent", "bob", taken=[asked], given=[reply], **MODEL)
    model = ag2("llm", "chat", "bob", agent, 1, taken=[asked], given=[reply], **MODEL)
    [found] = assemble([agent, model])
    assert (found.agent, found.asked, found.reply) == ("bob", "Hi", "Hello")


def test_the_invocations_of_the_first_version_are_the_standards() -> None:
    """AG2 1.x names no version of its instrumentation, and writes whole turns."""
    scope = Scope("opentelemetry.instrumentation.ag2")
    attributes = {"ag2.span.type": "agent", "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bob"}
    [found] = assemble([span("invoke_agent bob", attributes=attributes, scope=scope)])
    assert (found.agent, found.conventions) == ("bob", ("genai",))


def test_a_tool_that_raised_failed_with_what_the_model_was_shown() -> None:
    """Its span says the type of the error alone."""
    spans = chat()
    tool = next(one for one in spans if one.name == "execute_tool refund")
    tool.attributes.pop("gen_ai.tool.call.result")
    tool.attributes["error.type"] = "ExecutionError"
    [found] = assemble(spans)
    [call] = found.tool_calls
    assert (call.error, call.result) == ("ExecutionError: refunded", None)


OPENINFERENCE = Scope("openinference.instrumentation.ag2", "0.1.12")


def traced(name: str, kind: str = "AGENT", parent: Span | None = None, second: int = 0, **attributes: Any) -> Span:
    """A span of OpenInference's: ``_`` for dots, ``taken`` and ``given`` in JSON but for texts."""
    own: dict[str, Any] = {"openinference.span.kind": kind}
    for key, value in attributes.items():
        short = {"taken": "input.value", "given": "output.value", "sender": "ag2.sender.name", "own": "agent.name"}
        named = short.get(key, "ag2.recipient.name" if key == "recipient" else key)
        own[named] = value if isinstance(value, str) else json.dumps(value)
    started = START_NS + second * SECOND_NS
    return span(name, parent=parent, attributes=own, scope=OPENINFERENCE, started_ns=started)


@pytest.mark.parametrize("message", ["Refund o_9", {"role": "user", "content": "Refund o_9"}])
@pytest.mark.parametrize(
    ("gave", "result", "error"),
    [([True, {"content": "refunded"}], "refunded", None), ([False, {"content": "Error: down"}], None, "Error: down")],
)
def test_a_chat_under_openinference(message: Any, gave: Any, result: str | None, error: str | None) -> None:
    """The recipient is the agent; a reply to somebody is part of the chat, and a tool's span takes the call."""
    taken = {"message": message, "sender": "customer", "recipient": "bob"}
    root = traced("customer.initiate_chat", taken=taken, given="Done.", own="customer", recipient="bob")
    first = traced("bob.generate_reply", parent=root, second=1, own="bob", sender="customer", given={"content": None})
    proxy = traced("customer.generate_reply", parent=root, second=2, own="customer", sender="bob", taken=[])
    call = {"tool.name": "refund", "tool_call.function.arguments": '{"id": "o_9"}', "tool_call.id": "c1"}
    tool = traced(
        "refund", "TOOL", proxy, 2, taken={"arguments": '{"id": "o_9"}', "name": "refund"}, given=gave, **call
    )
    last = traced("bob.generate_reply", parent=root, second=3, own="bob", sender="customer", given="Done.")
    [found] = assemble([root, first, proxy, tool, last])
    assert (found.agent, found.asked, found.reply) == ("bob", "Refund o_9", "Done.")
    assert [(c.name, c.arguments, c.result, c.error, c.call_id) for c in found.tool_calls] == [
        ("refund", {"id": "o_9"}, result, error, "c1")
    ]
