"""Google ADK's own attributes, from 1.0 to 2.x."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of, note_of
from otel_eval.interaction import GapKind, Interaction, ToolCallPart, Usage
from otel_eval.signals import Resource, Scope, Span, SpanEvent
from otel_eval.testing.spans import log_record, span

ADK = Scope("gcp.vertex.agent", "1.2.0")


def adk(name: str, parent: Span | None = None, **attributes: Any) -> Span:
    """A span of ADK's tracer; ``llm_request`` and so on are short for the attributes in its own namespace."""
    own = ("llm_request", "llm_response", "tool_call_args", "tool_response", "session_id", "data")
    full = {f"gcp.vertex.agent.{key}" if key in own else key: value for key, value in attributes.items()}
    return span(name, parent=parent, scope=ADK, attributes=full)


def facts(name: str, **attributes: Any) -> Facts:
    """The facts of such a span."""
    found = facts_of(adk(name, **attributes))
    assert found is not None
    return found


def content(role: str, *parts: Any) -> dict[str, Any]:
    """One of google-genai's contents."""
    return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


REQUEST = json.dumps(
    {
        "model": "gemini-2.0-flash",
        "config": {"system_instruction": "Be brief."},
        "contents": [
            content("user", "Where is order 9?"),
            content("model", {"function_call": {"id": "c1", "name": "get_order", "args": {"id": 9}}}),
            content("user", {"function_response": {"id": "c1", "name": "get_order", "response": {"result": "sent"}}}),
        ],
    }
)
RESPONSE = json.dumps(
    {
        "content": content("model", "It was sent."),
        "finish_reason": "STOP",
        "usage_metadata": {"prompt_token_count": 7, "candidates_token_count": 3, "thoughts_token_count": 2},
    }
)


def only(*spans: Span) -> Interaction:
    """The only Interaction of these spans."""
    (found,) = assemble(spans)
    return found


def test_the_first_format_is_read_whole() -> None:
    """ADK 1.0: the agent's name is in the span's, what was said in the request and the response of ``call_llm``."""
    root = adk("invocation")
    agent = adk("agent_run [support]", root)
    call = adk("call_llm", agent, llm_request=REQUEST, llm_response=RESPONSE, session_id="s-1")
    tool = adk(
        "execute_tool get_order",
        agent,
        **{
            "gen_ai.tool.name": "get_order",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.id": "c1",
            "tool_call_args": '{"id": 9}',
            "tool_response": '{"result": "sent"}',
            "llm_request": "{}",
            "llm_response": "{}",
        },
    )
    found = only(call, tool, agent, root)
    assert (found.agent, found.session, found.asked, found.reply, found.system) == (
        "support", "s-1", "Where is order 9?", "It was sent.", "Be brief.",
    )  # fmt: skip
    assert [(made.name, made.arguments, made.result) for made in found.tool_calls] == [
        ("get_order", {"id": 9}, {"result": "sent"})
    ]
    assert found.usage == Usage(input_tokens=7, output_tokens=5, reasoning_tokens=2)
    assert found.id.endswith(root.span_id)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("invocation", Kind.WORKFLOW),
        ("agent_run [x]", Kind.AGENT),
        ("call_llm", Kind.MODEL),
        ("execute_tool x", Kind.TOOL),
        ("execute_tool transfer_to_agent", Kind.HANDOFF),
        ("execute_tool set_model_response", Kind.STEP),
        ("send_data", Kind.STEP),
    ],
)
def test_kinds_by_name(name: str, kind: Kind) -> None:
    """The first format has no operation: the span's name says what it is."""
    assert facts(name).kind is kind


def test_the_span_around_parallel_tools_is_no_call() -> None:
    """``execute_tool (merged)`` is an ordinary span."""
    assert facts_of(adk("execute_tool (merged)", tool_call_args="N/A", tool_response="[]")) is None


def test_what_stands_for_hidden_content_is_a_gap() -> None:
    """``{}`` on a model's span, and for a tool's arguments and response, says that capture is off: by what it is
    turned on."""
    agent = adk("agent_run [support]")
    call = adk("call_llm", agent, llm_request="{}", llm_response="{}")
    tool = adk("execute_tool get_order", agent, tool_call_args="{}", tool_response="{}", llm_request="{}")
    found = only(agent, call, tool)
    assert (found.asked, found.reply) == (None, None)
    for gap in (found.gap("asked"), found.gap("reply"), *(found.tool_calls[0].gap(f) for f in ("arguments", "result"))):
        assert gap is not None
        assert (gap.kind, gap.setting) == (GapKind.NOT_CAPTURED, "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true")


@pytest.mark.parametrize(
    ("given", "gave", "arguments", "result"),
    [
        ("{}", '{"result": "x"}', {}, {"result": "x"}),
        ('{"id": 1}', "{}", {"id": 1}, {}),
        ("{}", "{}", MISSING, MISSING),
        ('{"id": 1}', '{"result": "<not specified>"}', {"id": 1}, MISSING),
        ('{"id": 1}', "<not serializable>", {"id": 1}, MISSING),
        ("N/A", None, MISSING, MISSING),
        ('{"id": 1}', None, {"id": 1}, MISSING),
    ],
)
def test_arguments_and_results(given: str, gave: str | None, arguments: Any, result: Any) -> None:
    """A tool without arguments is told from hidden ones, and ADK's words for nothing are nothing."""
    found = facts("execute_tool t", tool_call_args=given, tool_response=gave)
    assert (found.arguments, found.result) == (arguments, result)


def test_a_cut_response_is_marked() -> None:
    """JSON that a limit cut is no reply, and says so."""
    agent = adk("agent_run [a]")
    found = only(agent, adk("call_llm", agent, llm_request=REQUEST, llm_response=RESPONSE[:60]))
    gap = found.gap("reply")
    assert gap is not None
    assert gap.kind is GapKind.TRUNCATED


def test_other_agents_words_are_not_the_users() -> None:
    """After a handoff ADK quotes the first agent in the user's name: that is nobody's question."""
    quoted = content("user", "For context:", "[triage] called tool `transfer_to_agent`")
    request = json.dumps({"contents": [content("user", "Refund order 9"), quoted]})
    found = facts("call_llm", llm_request=request)
    assert [message.text for message in found.input or ()] == ["Refund order 9"]


def test_a_litellm_stream_is_one_answer() -> None:
    """ADK writes each piece of a stream and then the whole: the whole counts."""
    pieces = [("I am ", ""), ("sorry.", ""), ("I am sorry.", "stop")]
    output = [
        {"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": reason}
        for text, reason in pieces
    ]
    found = facts(
        "generate_content m",
        **{
            "gen_ai.operation.name": "generate_content",
            "gen_ai.input.messages": "[]",
            "gen_ai.output.messages": json.dumps(output),
        },
    )
    assert [message.text for message in found.output or ()] == ["I am sorry."]


def test_javascript_writes_camel_case() -> None:
    """The names of google-genai's types as they are there."""
    request = json.dumps({"contents": [], "config": {"systemInstruction": "Be kind."}})
    found = facts("call_llm", llm_request=request, llm_response='{"modelVersion": "g-1", "finishReason": "STOP"}')
    assert (found.system, found.model, found.finish_reasons) == ("Be kind.", "g-1", ("STOP",))


@pytest.mark.parametrize(("code", "message"), [("error_code", "error_message"), ("errorCode", "errorMessage")])
def test_a_refused_answer_is_a_failure(code: str, message: str) -> None:
    """A response without content says why in ``error_code``."""
    response = json.dumps({code: "SAFETY", message: "blocked"})
    found = facts("call_llm", llm_response=response)
    assert found.failure is not None
    assert str(found.failure) == "SAFETY: blocked"


def test_structured_output_through_a_tool_is_the_reply() -> None:
    """``set_model_response`` hands over the answer; it is no tool of the agent's."""
    agent = adk("agent_run [a]")
    call = adk(
        "call_llm",
        agent,
        llm_request=REQUEST,
        llm_response=json.dumps(
            {"content": content("model", {"function_call": {"name": "set_model_response", "args": {"ok": True}}})}
        ),
    )
    tool = adk("execute_tool set_model_response", agent, tool_call_args='{"ok": true}', tool_response='{"result": "x"}')
    found = only(agent, call, tool)
    assert found.reply == '{"ok": true}'
    assert "set_model_response" not in [made.name for made in found.tool_calls]


def test_contents_in_log_records() -> None:
    """With content in logs, a record's body holds one of Gemini's contents, whatever its event is called."""
    body = {"content": content("model", {"function_call": {"name": "get_order", "args": {}}})}
    note = note_of(log_record("gen_ai.user.message", span=span(), body=body))
    assert note is not None
    (message,) = note.facts.input or ()
    assert (message.role, message.parts) == ("assistant", (ToolCallPart(name="get_order", arguments={}),))


def test_elided_log_records_are_marked() -> None:
    """``<elided>`` is hidden content, not an empty message."""
    note = note_of(log_record("gen_ai.user.message", span=span(), body={"content": "<elided>"}))
    assert note is not None
    assert [(mark.field, mark.kind) for mark in note.facts.marks] == [("input", GapKind.REDACTED)]


GO = Resource({"service.name": "shop", "telemetry.sdk.language": "go"})


@pytest.mark.parametrize(
    ("resource", "reason", "setting"),
    [
        (GO, "STOP", "true and a LoggerProvider"),
        (GO, "", "true and a LoggerProvider"),
        (GO, "stop", "SPAN_AND_EVENT"),
        (Resource(), "stop", "SPAN_AND_EVENT"),
    ],
)
def test_the_switch_of_go(resource: Resource, reason: str, setting: str) -> None:
    """With the first schema it takes no value but true, and content goes to log records; with the second it is Python's."""
    attributes = {"gen_ai.operation.name": "generate_content", "gen_ai.response.finish_reasons": [reason]}
    found = facts_of(span("generate_content m", scope=ADK, resource=resource, attributes=attributes))
    assert found is not None
    assert found.setting == "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=" + setting


def test_log_records_that_quote_another_agent() -> None:
    """After a transfer, what the first agent did is told to the second one in the user's name."""
    model = adk("generate_content m", None, **{"gen_ai.operation.name": "generate_content"})
    told = [
        content("user", "Where is it?"),
        content("user", "For context:", "[triage] called tool `transfer_to_agent` with parameters: {}"),
    ]
    notes = [note_of(log_record("gen_ai.user.message", span=model, body={"content": each})) for each in told]
    assert [[message.text for message in note.facts.input or ()] for note in notes if note is not None] == [
        ["Where is it?"],
        [],
    ]


def test_go_0_names_requests_and_responses_its_own_way() -> None:
    """``content`` for ``contents``, and a response with the names of Go's fields."""
    request = json.dumps({"model": "m", "content": json.loads(REQUEST)["contents"], "config": {}})
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "cachedContentTokenCount": 1}
    response = {"Content": content("model", "It was sent."), "FinishReason": "STOP", "UsageMetadata": usage}
    found = facts("call_llm", llm_request=request, llm_response=json.dumps({**response, "Partial": False}))
    assert found.input is not None
    assert (found.input[0].text, len(found.input)) == ("Where is order 9?", 3)
    assert [message.text for message in found.output or ()] == ["It was sent."]
    assert found.usage == Usage(input_tokens=7, output_tokens=5, cache_read_tokens=1, reasoning_tokens=2)
    assert found.finish_reasons == ("STOP",)


def test_go_0_ends_the_span_with_the_first_piece_of_a_stream() -> None:
    """The answer is not there whole, and its beginning is no answer."""
    response = {"Content": content("model", "It was"), "Partial": True}
    found = facts("call_llm", llm_request=REQUEST, llm_response=json.dumps(response))
    assert found.output is None
    assert [(mark.field, mark.kind) for mark in found.marks] == [("output", GapKind.TRUNCATED)]


def test_go_0_writes_an_error_as_an_empty_object() -> None:
    """The tool failed, whatever it said."""
    found = facts("execute_tool t", tool_call_args='{"a": 1}', tool_response='{"error": {}}')
    assert found.error == "the tool failed, its error's text was not written"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("*errors.errorString", "ticket system down"),
        ("*fmt.wrapError", "ticket system down"),
        ("*url.Error", "*url.Error: ticket system down"),
    ],
)
def test_errors_of_go_that_have_no_type(kind: str, error: str) -> None:
    """What ``errors.New`` and ``fmt.Errorf`` make is named by what it says alone."""
    raised = SpanEvent("exception", 1, {"exception.type": kind, "exception.message": "ticket system down"})
    found = facts_of(span("execute_tool t", scope=ADK, status="error", events=(raised,)))
    assert found is not None
    assert found.error == error


def test_java_has_a_key_of_its_own_for_the_calls_id() -> None:
    """The span of a tool is the call that the model's messages hold, once."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order", "gen_ai.tool_call.id": "c1"}
    tool = facts("execute_tool [get_order]", tool_call_args='{"id":9}', tool_response='{"result":"sent"}', **attributes)
    assert (tool.tool, tool.call_id, tool.arguments, tool.result) == (
        "get_order",
        "c1",
        {"id": 9},
        {"result": "sent"},
    )


def test_java_0_spelled_the_transfer_its_own_way() -> None:
    """A handoff is no tool's call."""
    call = {"functionCall": {"name": "transferToAgent", "args": {"agent_name": "refunds"}}}
    agent = adk("agent_run [orders]")
    request = json.dumps({"contents": [content("user", "Pay me back.")]})
    model = adk("call_llm", agent, llm_request=request, llm_response=json.dumps({"content": content("model", call)}))
    assert only(agent, model).tool_calls == ()


def test_a_structured_answer_without_a_tools_span() -> None:
    """JavaScript's runs nothing for that call, which ends the run: it is what was answered."""
    call = {"functionCall": {"name": "set_model_response", "args": {"city": "Paris", "n": 4}}}
    agent = adk("invoke_agent shop", **{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"})
    response = json.dumps({"content": content("model", call), "finishReason": "STOP"})
    (found,) = assemble([agent, adk("call_llm", parent=agent, llm_request=REQUEST, llm_response=response)])
    assert json.loads(found.reply or "") == {"city": "Paris", "n": 4}
    assert "set_model_response" not in [call.name for call in found.tool_calls]


def test_a_tool_that_waits_for_a_user_has_not_failed() -> None:
    """The model is shown an error object; one that was rejected is none that waits."""
    waiting = {"error": "This tool call requires confirmation, please approve or reject."}
    rejected = {"error": "This tool call is rejected."}
    assert facts("execute_tool wipe", tool_response=json.dumps(waiting)).error is None
    assert facts("execute_tool wipe", tool_response=json.dumps(rejected)).error == "This tool call is rejected."


@pytest.mark.parametrize(("second", "asked"), [("Where is order 9?", "Where is order 9?"), ("Edit it.", None)])
def test_an_agent_of_agents_was_asked_what_they_were_asked(second: str, asked: str | None) -> None:
    """It calls no model, and they share its conversation: not if they were asked different things."""
    named = {"gen_ai.operation.name": "invoke_agent"}
    press = adk("invoke_agent press", **named, **{"gen_ai.agent.name": "press"})
    told = [press]
    for name, said in (("writer", "Where is order 9?"), ("editor", second)):
        inner = adk(f"invoke_agent {name}", parent=press, **named, **{"gen_ai.agent.name": name})
        request = json.dumps({"contents": [content("user", said)]})
        response = json.dumps({"content": content("model", f"By {name}.")})
        told += [inner, adk("call_llm", parent=inner, llm_request=request, llm_response=response)]
    outer = assemble(told)[0]
    assert (outer.agent, outer.asked) == ("press", asked)


def test_the_words_of_an_error_are_in_the_result() -> None:
    """ADK's own type of it, ``TOOL_ERROR``, is the status' message, too."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find_order",
        "error.type": "TOOL_ERROR",
        "gen_ai.tool.call.result": '{"error": "no such order o_404"}',
    }
    found = facts_of(
        span(
            "execute_tool find_order",
            attributes=attributes,
            status="error",
            status_message="TOOL_ERROR",
            scope=Scope("gcp.vertex.agent"),
        )
    )
    assert found is not None
    assert found.error == "no such order o_404"
