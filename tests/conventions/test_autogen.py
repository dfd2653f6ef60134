"""AutoGen's message bus: which of its spans hand something over, and what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import Delivery, Facts, Kind
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import (
    Attachment,
    GapKind,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from otel_eval.signals import Scope
from otel_eval.testing.spans import message as text
from otel_eval.testing.spans import model_span, span

BUS = Scope("autogen SingleThreadedAgentRuntime")
NATIVE = Scope("autogen-core")


def delivery(handed_over: object, **attributes: Any) -> Facts | None:
    """What the span of a delivery to ``shop_agent`` says."""
    raw = handed_over if isinstance(handed_over, str) else json.dumps(handed_over)
    own = {
        "messaging.operation": "process",
        "messaging.destination": "shop_agent_7a54.(7a54)-A",
        "recipient_agent_type": "shop_agent_7a54",
        "message_context": json.dumps({"sender": "Manager_7a54/7a54", "topic_id": "group_topic_7a54/7a54"}),
        "message": raw,
    }
    return facts_of(span("autogen process shop_agent_7a54.(7a54)-A", scope=BUS, attributes={**own, **attributes}))


def told(message: object) -> Facts:
    """The same, where it says something."""
    facts = delivery(message)
    assert facts is not None
    return facts


def said(kind: str, content: object, **fields: Any) -> Mapping[str, Any]:
    """A message of AgentChat's as it writes it down."""
    return {"id": "m", "source": "shop_agent", "models_usage": None, "type": kind, "content": content, **fields}


def of(role: str, *parts: Part) -> Message:
    """A message of the domain's."""
    return Message(role=role, parts=parts)


def test_whom_it_reaches_and_who_sent_it() -> None:
    """Addresses are written as the agents' spans have them."""
    facts = told({})
    assert (facts.kind, facts.delivery) == (
        Kind.DELIVERY,
        Delivery(recipient="shop_agent_7a54/7a54", sender="Manager_7a54/7a54"),
    )
    agent = facts_of(
        span(
            "invoke_agent shop_agent",
            scope=NATIVE,
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "shop_agent",
                "gen_ai.agent.id": "shop_agent_7a54/7a54",
            },
        )
    )
    assert agent is not None
    assert (agent.kind, agent.agent, agent.delivery) == (
        Kind.AGENT,
        "shop_agent",
        Delivery(recipient="shop_agent_7a54/7a54"),
    )


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "shop_agent"),
        ({"recipient_agent_class": "RoundRobinGroupChatManager"}, None),
        ({"message_context": json.dumps({"sender": "None", "is_rpc": True})}, None),
        ({"message_context": None}, None),
        ({"messaging.destination": "group_topic_7a54.(7a54)-T"}, None),
    ],
)
def test_a_message_with_nothing_in_it_asks_an_agent_for_its_answer(
    changes: Mapping[str, Any], name: str | None
) -> None:
    """Sent to a team's agent, and no call that resets or pauses it."""
    context = json.dumps({"sender": "Manager_7a54/7a54", "is_rpc": False})
    own = {"recipient_agent_class": "ChatAgentContainer", "message_context": context, **changes}
    facts = delivery({}, **own)
    assert facts is not None
    assert facts.agent == name


def test_the_task_of_a_team_opens_a_conversation() -> None:
    """What a person says, also in handing over to an agent, is a user's message."""
    task = [said("TextMessage", "Where is o_9?"), said("HandoffMessage", "My name is Bob.", target="shop_agent")]
    facts = told({"messages": task, "output_task_messages": True})
    assert facts.new_from == 0
    assert facts.input == (of("user", TextPart(text="Where is o_9?")), of("user", TextPart(text="My name is Bob.")))


def test_an_answer_is_heard_by_others_and_said_by_its_agent() -> None:
    """Others get the last message alone; the agent's own are all, with the tokens of each."""
    used = {"prompt_tokens": 10, "completion_tokens": 5}
    inner = [
        said("ThoughtEvent", "I look it up."),
        said("ToolCallRequestEvent", [{"id": "c1", "name": "getOrder", "arguments": '{"id": 9}'}], models_usage=used),
        said("ToolCallExecutionEvent", [{"call_id": "c1", "name": "getOrder", "content": "lost", "is_error": True}]),
        said("MemoryQueryEvent", [{"content": "secret", "mime_type": "text/plain"}]),
    ]
    answer = said("TextMessage", "It is lost.", models_usage=used)
    facts = told({"response": {"chat_message": answer, "inner_messages": inner}, "name": "shop_agent"})
    assert facts.input == (of("user", TextPart(text="It is lost.")),)
    assert facts.output == (
        of("assistant", ReasoningPart(text="I look it up.")),
        of("assistant", ToolCallPart(name="getOrder", arguments={"id": 9}, call_id="c1")),
        of("tool", ToolResultPart(call_id="c1", name="getOrder", result="lost", failed=True)),
        of("assistant", TextPart(text="It is lost.")),
    )
    assert (facts.reply, facts.usage) == ("It is lost.", Usage(input_tokens=20, output_tokens=10))


def test_a_handoff_asks_and_answers_nothing() -> None:
    """Its tool is no tool, and its message nobody's question and nobody's reply."""
    words = "Transferred to refunds."
    inner = [
        said("ToolCallRequestEvent", [{"id": "c1", "name": "transfer_to_refunds", "arguments": "{}"}]),
        said(
            "ToolCallExecutionEvent",
            [{"call_id": "c1", "name": "transfer_to_refunds", "content": words, "is_error": False}],
        ),
    ]
    answer = said("HandoffMessage", words, target="refunds", context=[])
    facts = told({"response": {"chat_message": answer, "inner_messages": inner}, "name": "triage"})
    assert facts.reply is None
    assert facts.pseudo_tools == ("transfer_to_refunds",)
    assert facts.input == (of("assistant", TextPart(text=words)),)


@pytest.mark.parametrize(
    ("kind", "content", "parts"),
    [
        ("TextMessage", "Sent.", (TextPart(text="Sent."),)),
        ("TextMessage", "", (TextPart(text=""),)),
        ("ToolCallSummaryMessage", "order 9 is sent", (TextPart(text="order 9 is sent"),)),
        ("StructuredMessage[Verdict]", {"ok": True}, (TextPart(text='{"ok":true}'),)),
        ("MultiModalMessage", ["See:", {"data": "aGk="}], (TextPart(text="See:"), Attachment(modality="image"))),
    ],
)
def test_what_a_chat_message_says(kind: str, content: object, parts: tuple[Part, ...]) -> None:
    """Texts, images, and the objects of structured answers."""
    facts = told({"agent_response": {"chat_message": said(kind, content), "inner_messages": None}})
    assert facts.input == (of("user", *parts),)
    assert facts.output == (of("assistant", *parts),)


def test_the_messages_of_an_inner_team_are_heard() -> None:
    """Those that its agents said; what went on inside is no message."""
    messages = [said("TextMessage", "A draft."), said("ToolCallRequestEvent", [{"id": "c", "name": "x"}])]
    facts = told({"result": {"messages": messages, "stop_reason": "done"}, "name": "writers"})
    assert facts.input == (of("user", TextPart(text="A draft.")),)


@pytest.mark.parametrize(
    "message",
    [
        {"message": said("ModelClientStreamingChunkEvent", "It ")},
        {"message": said("SelectSpeakerEvent", ["shop_agent"])},
        {"error": {"error_type": "ValueError", "error_message": "boom"}},
        {"messages": None, "output_task_messages": True},
        {"message": "No object"},
    ],
)
def test_what_hands_nothing_over_is_an_ordinary_span(message: object) -> None:
    """Chunks, choices of speakers, errors, and a run without a task."""
    assert delivery(message) is None


@pytest.mark.parametrize("message", [{"content": "Where is o_9?"}, ["a list"], "Message could not be serialized"])
def test_an_agent_of_a_programs_own_has_a_frame(message: object) -> None:
    """With the type that it is registered as for a name; what it was asked is in its model's calls."""
    own = {
        "messaging.operation": "process",
        "messaging.destination": "shop.(default)-A",
        "message": message if isinstance(message, str) else json.dumps(message),
    }
    frame = span("autogen process shop.(default)-A", scope=BUS, attributes=own, kind=5)
    call = model_span(parent=frame, messages=[text("user", "Where is o_9?")], output=[text("assistant", "Sent.")])
    (found,) = assemble([frame, call])
    assert (found.span_id, found.agent, found.asked, found.reply) == (frame.span_id, "shop", "Where is o_9?", "Sent.")


def test_the_runtimes_own_agent_for_tools_is_none() -> None:
    """It runs what other agents called."""
    assert delivery({"id": "c1", "name": "find", "arguments": "{}"}, recipient_agent_class="ToolAgent") is None


@pytest.mark.parametrize(
    "changes",
    [{"messaging.operation": "publish"}, {"message": None}, {"message": 7}],
)
def test_spans_that_deliver_nothing(changes: Mapping[str, Any]) -> None:
    """Sending is told again by the delivery."""
    assert delivery({"messages": [said("TextMessage", "Hi")]}, **changes) is None


def test_a_message_that_is_cut_is_marked() -> None:
    """A length limit leaves no JSON."""
    facts = told('{"messages":[{"type":"TextMessage","content":"Where is')
    assert {(mark.field, mark.kind) for mark in facts.marks} == {
        ("input", GapKind.TRUNCATED),
        ("output", GapKind.TRUNCATED),
    }


@pytest.mark.parametrize(
    "message",
    [
        {"messages": [None, 7, {}, {"type": "TextMessage"}, {"type": 7, "content": {}}]},
        {"response": {"chat_message": {}, "inner_messages": {"a": 1}}},
        {"response": {"chat_message": {"type": "TextMessage", "content": 5, "models_usage": {"prompt_tokens": "x"}}}},
        {"result": {"messages": [[]]}},
        {"message": {"type": "ToolCallRequestEvent", "content": [None, {"id": 5}]}},
        {"message": {"type": "ToolCallExecutionEvent", "content": [None, {"call_id": 5, "content": None}]}},
    ],
)
def test_odd_messages_do_not_raise(message: object) -> None:
    """And say nothing that was not there."""
    facts = delivery(message)
    assert facts is None or not any(
        isinstance(part, TextPart) for each in (*(facts.input or ()), *(facts.output or ())) for part in each.parts
    )
