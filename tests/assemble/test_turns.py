"""What belongs to one turn: its question, its reply, its tokens and its tools; what came before it is history."""

from __future__ import annotations

import json

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.testing.spans import (
    agent_span,
    conversation,
    log_record,
    message,
    model_span,
    span,
    tool_span,
)
from tests.assemble.kit import later, only


def test_what_an_agent_inside_another_said_last_is_the_reply() -> None:
    """An agent of agents, or one that transferred within its own span, answers with the inner one's words."""
    outer = agent_span(asked=None, reply=None, agent="triage", seconds=9)
    hands_over = message("assistant", {"type": "tool_call", "id": "c1", "name": "transfer_to_agent", "arguments": {}})
    call = model_span(parent=outer, messages=[message("user", "hi")], output=[hands_over])
    inner = conversation(asked="hi", reply="hello", agent="expert", parent=call)
    found, nested = assemble([outer, call, *inner])
    assert (found.reply, nested.reply, nested.parent_id) == ("hello", "hello", found.id)
    after = model_span(parent=outer, messages=[message("user", "hi")], output=[], started_ns=later(outer, 8))
    assert assemble([outer, call, *inner, after])[0].reply is None


def test_a_skeleton_of_messages_gives_way_to_the_messages() -> None:
    """With content off an outer instrumentation may write messages without anything in them; the inner one has them."""
    root = agent_span(asked=None, reply=None)
    bare = {"gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text"}]}]'}
    wants = '[{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "refund"}]}]'
    outer = model_span(parent=root, attributes={**bare, "gen_ai.output.messages": wants})
    call = {"type": "tool_call", "id": "c1", "name": "refund", "arguments": {"order": "o_9"}}
    inner = model_span(parent=outer, messages=[message("user", "hi")], output=[{"role": "assistant", "parts": [call]}])
    found = only(
        [
            root,
            outer,
            inner,
            tool_span(
                name="refund", parent=root, arguments=None, result=None, attributes={"gen_ai.tool.call.id": "c1"}
            ),
        ]
    )
    assert found.asked == "hi"
    assert [call.arguments for call in found.tool_calls] == [{"order": "o_9"}]


def test_an_agents_own_total_is_not_added_to_its_calls() -> None:
    """Usage on the agent's span is the sum of what is below; alone, it is all there is."""
    root = agent_span(attributes={"gen_ai.usage.input_tokens": 300})
    assert only([root, model_span(parent=root), model_span(parent=root)]).usage.input_tokens == 200
    assert only([root]).usage.input_tokens == 300


def test_only_this_turn_counts_of_a_history() -> None:
    """The last user message, the tool calls after it, and the earlier turns as history."""
    call = {"type": "tool_call", "id": "c0", "name": "old", "arguments": {}}
    history = [message("user", "first"), message("assistant", call), message("tool", {"type": "tool_call_response", "id": "c0", "response": 1}),
               message("assistant", "answered"), message("user", "first")]  # fmt: skip
    now = {"type": "tool_call", "id": "c1", "name": "new", "arguments": '{"a": 1}'}
    done = {"type": "tool_call_response", "id": "c1", "response": '{"b": 2}'}
    root = agent_span(asked=None, reply=None)
    spans = [
        root,
        model_span(parent=root, messages=history, output=[message("assistant", now)]),
        model_span(
            parent=root,
            messages=[*history, message("assistant", now), message("user", done)],
            output=[message("assistant", "again")],
            started_ns=later(root, 2),
        ),
    ]
    found = only(spans)
    assert (found.asked, found.reply, len(found.history)) == ("first", "again", 4)
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [("new", {"a": 1}, {"b": 2})]


def test_the_history_is_what_the_model_was_shown() -> None:
    """An agent with a memory is given the new message alone; the model's call has the turns before it."""
    root = agent_span(asked="second")
    before = [message("user", "first"), message("assistant", "answered")]
    found = only([root, model_span(parent=root, messages=[*before, message("user", "second")])])
    assert (found.asked, [said.text for said in found.history]) == ("second", ["first", "answered"])
    wrapped = only([root, model_span(parent=root, messages=[*before, message("user", "Answer this: second")])])
    assert (wrapped.asked, wrapped.history) == ("second", ())


@pytest.mark.parametrize(
    ("taken", "asked"), [("req-1", "Where is order 81?"), ("81", "81"), ("Find order 81", "Find order 81")]
)
def test_an_id_that_a_frame_was_given_is_not_the_question(taken: str, asked: str) -> None:
    """A traced function around an agent says what was asked, unless it is a word that the model was not told."""
    frame = span("handle", attributes={"openinference.span.kind": "CHAIN", "input.value": taken})
    found = only([frame, agent_span(parent=frame, asked="Where is order 81?")])
    assert found.asked == asked


def test_content_in_log_records_is_joined_in_any_order() -> None:
    """Messages in G2 log records, given before or after, complete the span that they name."""
    root = agent_span(asked=None, reply=None)
    call = model_span(parent=root)
    logs = [
        log_record("gen_ai.choice", span=call, body={"index": 0, "message": {"content": "hello"}}),
        log_record("gen_ai.user.message", span=call, body={"content": "hi"}),
        log_record("gen_ai.system.message", span=call, body={"content": "be kind"}),
    ]
    found = only([root, call], logs)
    assert (found.asked, found.reply, found.system) == ("hi", "hello", "be kind")


def test_a_users_json_is_a_text() -> None:
    """What a user typed is never decoded, whatever it looks like."""
    for text in ('{"a": 1}', "42", "null", "[1, 2]"):
        assert only([agent_span(asked=text)]).asked == text


def test_attachments_are_named_not_inlined() -> None:
    """An image beside the question is listed with its type and size."""
    image = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "A" * 400}
    asked = json.dumps([message("user", "what is this?", image)])
    found = only([agent_span(attributes={"gen_ai.input.messages": asked})])
    assert [(each.modality, each.mime_type, each.size) for each in found.attachments] == [("image", "image/png", 300)]
    assert found.asked == "what is this?"


def test_an_empty_answer_is_empty_not_missing() -> None:
    """A model that answered nothing gave an empty reply; a part whose content is not there was not captured."""
    root = agent_span(asked="hi", reply=None)
    silent = model_span(parent=root, messages=[message("user", "hi")], output=[{"role": "assistant", "parts": []}])
    hidden = model_span(parent=root, output=[{"role": "assistant", "parts": [{"type": "text"}]}])
    found = only([root, silent])
    assert (found.reply, found.gap("reply")) == ("", None)
    assert only([root, hidden]).reply is None
