"""Content that was hidden, cut or taken out, piece by piece: what is left is told rightly, and the rest is a gap."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, agent_span, message, model_span, span, tool_span

HIDDEN = "[REDACTED]"
INPUT = "gen_ai.input.messages"


def requested(name: str, call_id: str) -> dict[str, Any]:
    """The model asks for a tool."""
    return message("assistant", {"type": "tool_call", "id": call_id, "name": name, "arguments": {"id": call_id}})


def gave(result: str, call_id: str) -> dict[str, Any]:
    """What the tool gave back."""
    return message("tool", {"type": "tool_call_response", "id": call_id, "response": result})


FIRST_TURN = (message("user", "Is my order here?"), requested("get_order", "c1"), gave("no", "c1"))
SECOND_TURN = (message("user", "Then cancel it"), requested("cancel", "c2"), gave("cancelled", "c2"))
HISTORY = (*FIRST_TURN, message("assistant", "It is not."), *SECOND_TURN)
ANSWER = message("assistant", "It is cancelled.")


def masked(messages: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """The messages with a placeholder in place of each text, as masking functions leave them."""
    parts = [
        [{**part, "content": HIDDEN} if part["type"] == "text" else part for part in each["parts"]] for each in messages
    ]
    return [{**each, "parts": told} for each, told in zip(messages, parts, strict=True)]


def loop(*, parent: Span | None, messages: tuple[dict[str, Any], ...] = SECOND_TURN, at: float = 0) -> list[Span]:
    """The model calls of a loop, each shown what came before it; the last one answers."""
    asking = [index for index, each in enumerate(messages) if each["role"] == "assistant"]
    ends = [(messages[:index], messages[index]) for index in asking] + [(messages, ANSWER)]
    return [
        model_span(
            parent=parent,
            messages=given,
            output=[output],
            started_ns=START_NS + round((at + place) * SECOND_NS),
            seconds=0.5,
        )
        for place, (given, output) in enumerate(ends)
    ]


def without(found: Span, *names: str) -> Span:
    """The span without those attributes, as a processor of the Collector leaves it."""
    return replace(found, attributes={key: value for key, value in found.attributes.items() if key not in names})


def cut(found: Span, name: str, length: int) -> Span:
    """The span with that attribute cut off."""
    return replace(found, attributes={**found.attributes, name: found.attributes[name][:length]})


def gaps(found: Interaction) -> dict[str, GapKind]:
    """Of each field why it is not there."""
    return {gap.field: gap.kind for gap in found.gaps}


def test_a_hidden_question_still_begins_the_turn() -> None:
    """The tool calls of the turn before it are none of this one's."""
    root = agent_span(asked=None, reply=None)
    calls = [
        model_span(parent=root, messages=masked(HISTORY[:5]), output=[SECOND_TURN[1]], seconds=0.5),
        model_span(parent=root, messages=masked(HISTORY), output=masked((ANSWER,)), started_ns=START_NS + SECOND_NS),
    ]
    (found,) = assemble([root, *calls])
    assert [tool.name for tool in found.tool_calls] == ["cancel"]
    assert (found.asked, found.reply) == (None, None)
    assert [gaps(found)[field] for field in ("asked", "reply", "history")] == [GapKind.REDACTED] * 3


def test_a_loop_whose_texts_are_hidden_is_one_interaction() -> None:
    """What is left of the messages still tells which call goes on with which, and that the last one answered."""
    calls = loop(parent=span())
    shown = [
        replace(
            call,
            attributes={
                **call.attributes,
                **{
                    name: json.dumps(masked(json.loads(call.attributes[name])))
                    for name in (INPUT, "gen_ai.output.messages")
                },
            },
        )
        for call in calls
    ]
    (found,) = assemble(shown)
    assert [tool.name for tool in found.tool_calls] == ["cancel"]
    assert (found.asked, found.reply) == (None, None)
    assert gaps(found)["asked"] == gaps(found)["reply"] == GapKind.REDACTED


def test_what_the_last_agent_hid_is_not_told_by_an_earlier_text() -> None:
    """The text before the last answer is no reply."""
    root = agent_span(asked="Is it here?", reply=None)
    calls = loop(parent=root)
    first = model_span(parent=root, messages=[message("user", "Is it here?")], output=[message("assistant", "Wait.")])
    last = replace(
        calls[-1], attributes={**calls[-1].attributes, "gen_ai.output.messages": json.dumps(masked((ANSWER,)))}
    )
    (found,) = assemble([root, first, last])
    assert found.reply is None
    assert gaps(found)["reply"] == GapKind.REDACTED


@pytest.mark.parametrize(
    ("scope", "attributes"),
    [
        (
            "pydantic-ai",
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "support",
                "final_result": HIDDEN,
                "pydantic_ai.all_messages": json.dumps([message("user", "Hi"), message("assistant", HIDDEN)]),
            },
        ),
        (
            "openinference.instrumentation.agno",
            {
                "openinference.span.kind": "AGENT",
                "agent.name": "support",
                "input.value": "Hi",
                "output.value": json.dumps({"text": HIDDEN, "files": []}),
            },
        ),
        (
            "openinference.instrumentation.langchain",
            {
                "openinference.span.kind": "AGENT",
                "agent.name": "support",
                "input.value": "Hi",
                "output.value": json.dumps(
                    {
                        "messages": [
                            {"type": "human", "data": {"content": HIDDEN}},
                            {"type": "ai", "data": {"content": HIDDEN}},
                        ]
                    }
                ),
            },
        ),
    ],
    ids=["outright", "in an object", "in messages"],
)
def test_a_placeholder_is_no_reply(scope: str, attributes: dict[str, Any]) -> None:
    """Wherever it stands: not as such, and not inside the value that was given back."""
    (found,) = assemble([span("agent", attributes=attributes, scope=Scope(scope))])
    assert (found.asked, found.reply) == ("Hi", None)
    assert gaps(found)["reply"] == GapKind.REDACTED


def test_a_hidden_text_beside_a_shown_one_is_left_out() -> None:
    """Of several parts those that say something are what was asked."""
    root = agent_span(asked=None, reply="Yes.")
    call = model_span(parent=root, messages=[message("user", HIDDEN, "Is it here?")], output=[ANSWER])
    (found,) = assemble([root, call])
    assert found.asked == "Is it here?"


def test_a_loop_whose_later_inputs_were_cut_is_one_interaction() -> None:
    """Messages grow with each call, so a length limit cuts the later ones first; there is one loop that waits for a tool."""
    first, *later = loop(parent=span(), messages=(*SECOND_TURN, requested("mail", "c3"), gave("sent", "c3")))
    (found,) = assemble([first, *(cut(call, INPUT, 100) for call in later)])
    assert (found.asked, found.reply) == ("Then cancel it", "It is cancelled.")
    assert [tool.name for tool in found.tool_calls] == ["cancel", "mail"]
    assert len(found.model_calls) == 3


@given(at=st.floats(0.6, 0.9))
def test_a_call_that_two_loops_wait_for_is_neither_s(at: float) -> None:
    """Side by side below one span, nothing tells whose the answers are: they are told without tools, which is a gap."""
    server = span()
    one, other = (
        loop(parent=server, messages=SECOND_TURN),
        loop(parent=server, messages=(message("user", "And the other one?"), *SECOND_TURN[1:]), at=at - 0.5),
    )
    found = assemble([one[0], other[0], *(without(call, INPUT) for call in (one[1], other[1]))])
    assert sorted(each.asked for each in found if each.asked is not None) == ["And the other one?", "Then cancel it"]
    alone = [each for each in found if each.asked is None]
    assert len(alone) == 2
    assert all("tool_calls" in gaps(each) and each.reply == "It is cancelled." for each in alone)


def test_an_answer_after_an_answer_is_an_interaction_of_its_own() -> None:
    """Without its input nothing joins a call to a loop that waits for nothing."""
    server = span()
    whole, later = loop(parent=server), loop(parent=server, at=5)[-1]
    found = assemble([*whole, without(later, INPUT)])
    assert [each.asked for each in found] == ["Then cancel it", None]
    assert "tool_calls" in gaps(found[1])


def test_no_call_is_given_the_result_of_another() -> None:
    """Of two requests one lost its name, which the SDK dropped: its result stays without a call."""
    both = message("assistant", *requested("get_weather", "c1")["parts"], *requested("get_weather", "c2")["parts"])
    del both["parts"][0]["name"]
    history = [message("user", "Paris and Rome?"), both, gave("18C", "c1"), gave("25C", "c2")]
    root = agent_span()
    made = model_span(parent=root, messages=history[:1], output=[both])
    later = model_span(parent=root, messages=history, output=[ANSWER], started_ns=root.started_ns + SECOND_NS)
    (found,) = assemble([root, made, later])
    assert [(tool.call_id, tool.result) for tool in found.tool_calls] == [("c2", "25C")]


def test_what_is_said_beside_a_request_is_no_reply() -> None:
    """The finish reason tells of the request where the messages lack it."""
    root = agent_span(asked="Where is it?", reply=None)
    call = model_span(
        parent=root,
        messages=[message("user", "Where is it?")],
        output=[message("assistant", "Let me see.")],
        attributes={"gen_ai.response.finish_reasons": ["tool_calls"]},
    )
    (found,) = assemble([root, call])
    assert found.reply is None
    assert "reply" in gaps(found)


def test_a_tool_whose_span_is_lost_is_not_given_anothers_result() -> None:
    """Two calls of one tool, told apart in the messages by ids that the spans do not have: the result shows which is left."""
    asked = [message("user", "Roll twice."), requested("roll", "c1"), requested("roll", "c2")]
    root = agent_span(asked="Roll twice.", reply="Four and two.")
    calls = [
        model_span(parent=root, messages=asked[:1], output=asked[1:]),
        model_span(
            parent=root,
            messages=[*asked, gave("four", "c1"), gave("two", "c2")],
            output=[message("assistant", "Four and two.")],
            started_ns=root.started_ns + 2,
        ),
    ]
    left = tool_span("roll", "c2", "two", parent=root, started_ns=root.started_ns + 1)
    (found,) = assemble([root, *calls, left])
    assert [(call.result, call.span_id) for call in found.tool_calls] == [("four", None), ("two", left.span_id)]


def test_a_call_that_only_a_lost_model_span_asked_for_is_a_gap() -> None:
    """The first call that is left was shown it: an agent before this one may have made it, and so may this one."""
    root = agent_span(asked=None, reply=None)
    shown = [message("user", "Where is it?"), requested("find", "c1"), gave("in Rome", "c1")]
    second = model_span(parent=root, messages=shown, output=[message("assistant", "In Rome.")])
    (found,) = assemble([root, second])
    assert (found.asked, found.reply, found.tool_calls) == ("Where is it?", "In Rome.", ())
    assert gaps(found)["tool_calls"] is GapKind.NOT_CAPTURED
    whole = agent_span(asked="Where is it?", reply="In Rome.")
    messages = json.dumps([message("user", "Where is it?"), requested("find", "c1"), gave("in Rome", "c1")])
    resumed = replace(whole, attributes={**whole.attributes, INPUT: messages})
    (found,) = assemble(
        [resumed, model_span(parent=resumed, messages=shown, output=[message("assistant", "In Rome.")])]
    )
    assert "tool_calls" not in gaps(found)  # what went into the agent was there before it


def test_an_agent_with_a_hidden_reply_did_not_fail_with_a_call_that_was_tried_again() -> None:
    """The span of the attempt that went well is lost."""
    root = agent_span(reply=None)
    hidden = json.dumps([message("assistant", HIDDEN)])
    root = replace(root, attributes={**root.attributes, "gen_ai.output.messages": hidden})
    failed = model_span(parent=root, messages=[message("user", "Hi")], failure="slow down")
    (found,) = assemble([root, failed])
    assert (found.failed, found.reply) == (False, None)


def test_a_tool_that_fails_has_no_span_under_traceloops_decorators_in_javascript() -> None:
    """The other's span says nothing of it: the loop is the program's own, and what it told the model is the error."""
    asked = [message("user", "Pay both"), requested("pay", "c1"), requested("pay", "c2")]
    root = agent_span(asked="Pay both", reply="One failed.")
    said = "Error: card declined"
    call = model_span(
        parent=root, messages=[*asked, gave("paid", "c1"), gave(said, "c2")], started_ns=root.started_ns + 2
    )
    first = model_span(parent=root, messages=asked[:1], output=asked[1:])
    paid = span(
        "pay.tool",
        parent=root,
        scope=Scope(name="@traceloop/node-server-sdk"),
        attributes={"traceloop.span.kind": "tool", "traceloop.entity.name": "pay", "traceloop.entity.output": '"paid"'},
    )
    (found,) = assemble([root, first, call, paid])
    assert [(call.result, call.error) for call in found.tool_calls] == [("paid", None), (None, said)]


@pytest.mark.parametrize("other", [True, False])
def test_talk_of_errors_is_no_error_where_tools_have_spans(other: bool) -> None:
    """This call's span is lost; only hand-written loops, whose tools have none, tell their errors so."""
    asked = [message("user", "What is in the log?"), requested("logs", "c1"), requested("count", "c2")]
    root = agent_span(asked="What is in the log?", reply="Errors.")
    said = "Error: 404 pages were seen 3 times"
    call = model_span(
        parent=root,
        messages=[*asked, gave(said, "c1"), gave("3", "c2")],
        output=[message("assistant", "Errors.")],
        started_ns=root.started_ns + 2,
    )
    first = model_span(parent=root, messages=asked[:1], output=asked[1:])
    left = [tool_span("count", {"id": "c2"}, "3", parent=root, call_id="c2")] if other else []
    (found,) = assemble([root, first, call, *left])
    assert (found.tool_calls[0].result, found.tool_calls[0].error) == ((said, None) if other else (None, said))


def test_an_error_that_is_a_type_alone_has_the_words_that_the_model_was_shown() -> None:
    """Google ADK's spans say ``TOOL_ERROR``, and with content in events nothing of the result."""
    asked = [message("user", "Find it."), requested("find", "c1")]
    root = agent_span(asked="Find it.", reply="No.")
    shown = message("tool", {"type": "tool_call_response", "id": "c1", "response": {"error": "no such order"}})
    calls = [
        model_span(parent=root, messages=asked[:1], output=asked[1:]),
        model_span(
            parent=root, messages=[*asked, shown], output=[message("assistant", "No.")], started_ns=root.started_ns + 2
        ),
    ]
    failed = tool_span(
        "find", {"id": "c1"}, parent=root, call_id="c1", status="error", attributes={"error.type": "TOOL_ERROR"}
    )
    (found,) = assemble([root, *calls, failed])
    assert [(call.result, call.error) for call in found.tool_calls] == [(None, "no such order")]
