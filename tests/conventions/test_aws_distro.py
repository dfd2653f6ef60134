"""Records in which AWS's distribution of OpenTelemetry writes the content that it takes out of spans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.registry import note_of
from otel_eval.signals import LogRecord, Scope, Span
from otel_eval.testing.spans import agent_span, span, tool_span

STRANDS = Scope("strands.telemetry.tracer")


def bare(operation: str, *, parent: Span | None = None, **told: Any) -> Span:
    """A span without its content."""
    return span(
        operation,
        attributes={
            "gen_ai.operation.name": operation,
            **{f"gen_ai.{key.replace('_', '.')}": told[key] for key in told},
        },
        parent=parent,
        scope=STRANDS,
    )


def record(of: Span, given: list[tuple[str, Any]], said: list[tuple[str, Any]], scope: Scope = STRANDS) -> LogRecord:
    """The content of the span: roles with events' attributes, or with an attribute's value."""
    body = {
        side: {"messages": [{"role": role, "content": content} for role, content in messages]}
        for side, messages in (("input", given), ("output", said))
        if messages
    }
    return LogRecord(
        time_ns=of.ended_ns,
        event_name=scope.name,
        body=body,
        attributes={"event.name": scope.name},
        trace_id=of.trace_id,
        span_id=of.span_id,
        resource=of.resource,
        scope=scope,
    )


ASKED = [{"text": "Refund 81"}]
CALL = [{"toolUse": {"toolUseId": "t1", "name": "get_order", "input": {"order": 81}}}]
GAVE = [{"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"text": "paid"}]}}]


def test_events_that_became_a_record() -> None:
    """Strands' first format: events, of which the record has the attributes."""
    agent = bare("invoke_agent", agent_name="helper")
    first, tool, second = (
        bare("chat", parent=agent),
        bare("execute_tool", parent=agent, tool_name="get_order"),
        bare("chat", parent=agent),
    )
    user = ("user", {"content": json.dumps(ASKED)})
    records = [
        record(agent, [("system", {"content": "Help."}), user], [("assistant", {"message": "Done."})]),
        record(first, [user], [("assistant", {"message": json.dumps(CALL), "finish_reason": "tool_use"})]),
        record(
            tool,
            [("tool", {"role": "tool", "content": '{"order": 81}', "id": "t1"})],
            [("assistant", {"message": '[{"text": "paid"}]', "id": "t1"})],
        ),
        record(
            second,
            [user, ("tool", {"content": json.dumps(GAVE)})],
            [("assistant", {"content": json.dumps(CALL)}), ("assistant", {"message": '[{"text": "Done."}]'})],
        ),
    ]

    (turn,) = assemble([agent, first, tool, second], records)

    assert (turn.agent, turn.system, turn.asked, turn.reply) == ("helper", "Help.", "Refund 81", "Done.")
    (call,) = turn.tool_calls or ()
    assert (call.name, call.arguments, call.result) == ("get_order", {"order": 81}, "paid")
    told = note_of(records[-1])
    assert told is not None
    assert [message.role for message in told.facts.input or ()] == ["user", "assistant", "tool"]


def test_what_was_said_before_goes_before_the_user() -> None:
    """Of the events of one name the record has the last alone: a request's results may be of an earlier turn."""
    call = bare("chat")
    given = [("user", {"content": '[{"text": "And 82?"}]'}), ("tool", {"content": json.dumps(GAVE)})]
    said = [
        ("assistant", {"content": '[{"text": "81 is paid."}]'}),
        ("assistant", {"message": '[{"text": "82 too."}]'}),
    ]
    told = note_of(record(call, given, said))
    assert told is not None
    assert [message.role for message in told.facts.input or ()] == ["tool", "assistant", "user"]


def test_attributes_that_became_a_record() -> None:
    """The latest conventions: messages as JSON; the names of the attributes are lost."""
    agent = bare("invoke_agent", agent_name="helper")
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Refund 81"}]}])
    reply = json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}], "finish_reason": "stop"}]
    )
    system = json.dumps([{"type": "text", "content": "Help."}])
    (turn,) = assemble([agent], [record(agent, [("system", system), ("user", asked)], [("assistant", reply)])])
    assert (turn.system, turn.asked, turn.reply) == ("Help.", "Refund 81", "Done.")


def test_other_records_say_nothing() -> None:
    """Neither a record of another name, nor one with another body."""
    agent = bare("invoke_agent")
    named = record(agent, [("user", "Hi")], [], scope=STRANDS)
    assert note_of(LogRecord(**{**_fields(named), "event_name": "other"})) is None
    assert note_of(LogRecord(**{**_fields(named), "body": {"input": {"messages": []}}})) is None
    assert note_of(LogRecord(**{**_fields(named), "body": {**named.body, "level": "info"}})) is None


def _fields(record: LogRecord) -> dict[str, Any]:
    return {
        name: getattr(record, name)
        for name in ("time_ns", "body", "event_name", "attributes", "trace_id", "span_id", "resource", "scope")
    }


@pytest.mark.parametrize("failed", [False, True])
def test_the_first_error_of_a_trace_is_that_of_the_span_below(*, failed: bool) -> None:
    """The instrumentation of the OpenAI Agents SDK writes it over the workflow's span, whoever got over it."""
    scope = Scope("amazon.opentelemetry.distro.instrumentation.openai_agents")
    error = {"status": "error", "status_message": "Error running tool: no such order"}
    told = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "shop", "error.type": "_OTHER"}
    flow = span("invoke_workflow shop", attributes=told, scope=scope, **error)
    agent = agent_span(
        asked="Refund 81", reply=None if failed else "No such order.", parent=flow, **error if failed else {}
    )
    tool = tool_span("get_order", {"order": 81}, parent=agent, **error)

    (turn,) = assemble([flow, agent, tool])

    assert turn.failed is failed
    assert [call.error for call in turn.tool_calls or ()] == ["Error running tool: no such order"]


@pytest.mark.parametrize(
    ("said", "result", "error"),
    [
        ("content='paid' name='get_order' tool_call_id='c1'", "paid", None),
        ("content='{\"state\": \"paid\"}' name='get_order' tool_call_id='c1'", {"state": "paid"}, None),
        ("content='no such order' name='get_order' tool_call_id='c1' status='error'", None, "no such order"),
    ],
)
def test_a_result_in_the_words_of_langchains_message(said: str, result: Any, error: str | None) -> None:
    """The instrumentation of LangChain writes ``str()`` of what a tool's result became."""
    agent = agent_span(asked="Refund 81", reply="Done.")
    tool = tool_span("get_order", {"order": 81}, said, parent=agent)
    (turn,) = assemble([agent, tool])
    (call,) = turn.tool_calls or ()
    assert (call.result, call.error) == (result, error)


def test_what_openinference_wrote() -> None:
    """Of messages the span keeps the roles; the record has them without, after what was taken and given whole."""
    scope = Scope("openinference.instrumentation.langchain")
    agent = span("helper", attributes={"openinference.span.kind": "AGENT", "agent.name": "helper"}, scope=scope)
    told = {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user"}
    model = span("ChatOpenAI", attributes=told, parent=agent)
    tool = span("get_order", attributes={"openinference.span.kind": "TOOL", "tool.name": "get_order"}, parent=agent)
    user = {"role": "user", "content": "Refund 81"}
    answer = {"choices": [{"message": {"role": "assistant", "content": "Done."}}]}
    records = [
        record(agent, [("user", json.dumps({"messages": [user]}))], [("assistant", "Done.")], scope),
        record(
            model,
            [("user", json.dumps({"messages": [{"role": "system", "content": "Help."}, user]})), ("user", "Help.")],
            [("assistant", json.dumps(answer)), ("assistant", "Done.")],
            scope,
        ),
        record(tool, [("user", '{"order": 81}')], [("assistant", "paid")], scope),
    ]

    (turn,) = assemble([agent, model, tool], records)

    assert (turn.agent, turn.asked, turn.reply, turn.system) == ("helper", "Refund 81", "Done.", "Help.")
    (call,) = turn.tool_calls or ()
    assert (call.name, call.arguments, call.result) == ("get_order", {"order": 81}, "paid")
    shown = note_of(records[1])
    assert shown is not None
    assert [message.text for message in shown.facts.output or ()] == ["Done."]


def test_a_record_of_an_ordinary_span_makes_no_call_of_it() -> None:
    """The making of an agent, whose span had its instructions."""
    made = bare("create_agent", agent_name="helper")
    assert assemble([made], [record(made, [("system", "Help.")], [])]) == ()
