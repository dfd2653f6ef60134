"""Codex, opencode, Copilot and Gemini CLI, as they write themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions import codex
from otel_eval.conventions.facts import MISSING, Kind
from otel_eval.conventions.registry import facts_of, note_of
from otel_eval.interaction import GapKind, ModelCall
from otel_eval.signals import LogRecord, Scope, Span, SpanEvent
from otel_eval.testing.spans import log_record, span

CODEX = Scope("codex_exec")
OPENCODE = Scope("opencode", "1.18.33")
COPILOT = Scope("github.copilot", "1.0.102")
GEMINI = Scope("gemini-cli", "v1")


def codex_turn(**fields: Any) -> list[Span]:
    """The spans of a turn with one call of an MCP server's tool within the model's answer, one below the other."""
    counts = {"input_tokens": 20, "output_tokens": 10}
    turn = span(
        "session_task.turn",
        scope=CODEX,
        attributes={"model": "gpt-5", **{f"codex.turn.token_usage.{key}": count for key, count in counts.items()}},
        **fields,
    )
    run = span("run_turn", parent=turn, attributes={"conversation.id": "c-1"})
    record = span("run_hooks_and_record_inputs", parent=run)
    answer = span(
        "handle_responses", parent=run, attributes={"gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": 10}
    )
    ready = SpanEvent(name="codex.tool_result_ready", time_ns=1, attributes={"tool_name": "get_order"})
    tool = span(
        "mcp__ordersget_order",
        parent=answer,
        events=(ready,),
        attributes={"tool_name": "mcp__ordersget_order", "call_id": "call_1", "codex.tool.phase": "dispatch"},
    )
    return [turn, run, record, answer, tool, span("dispatch_tool_call_with_state", parent=tool)]


def codex_record(of: Span, name: str, **attributes: Any) -> LogRecord:
    """A record, whose own name is a place in Codex's source."""
    attributes = {"event.name": f"codex.{name}", "conversation.id": "c-1", **attributes}
    return log_record("event otel/src/x.rs:1", span=of, scope=Scope("codex_otel.log_only"), attributes=attributes)


def called(of: Span, **attributes: Any) -> LogRecord:
    """The record of a tool call."""
    return codex_record(
        of, "tool_result", tool_name="get_order", call_id="call_1", arguments='{"order_id":"o_9"}', **attributes
    )


def test_a_turn_of_codex() -> None:
    """Spans tell what there was, records what was said; where the reply is not, a gap says so."""
    spans = codex_turn()
    framed = 'Wall time: 0.0154 seconds\nOutput:\n{"total": 4999}'
    records = [
        codex_record(spans[2], "user_prompt", prompt="Where is o_9?"),
        called(spans[5], success="true", output=framed, mcp_server="orders"),
    ]
    (found,) = assemble(spans, records)
    assert (found.agent, found.session, found.asked, found.reply) == ("codex", "c-1", "Where is o_9?", None)
    assert [(c.name, c.arguments, c.result, c.call_id) for c in found.tool_calls] == [
        ("get_order", {"order_id": "o_9"}, {"total": 4999}, "call_1")
    ]
    assert (found.model, found.usage.input_tokens, found.usage.output_tokens) == ("gpt-5", 20, 10)
    assert [call.usage.input_tokens for call in found.model_calls if isinstance(call, ModelCall)] == [20]
    gap = found.gap("reply")
    assert gap is not None
    assert "log_user_prompt" in (gap.setting or "")


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("cut", [False, True])
def test_the_answer_of_codex(place: int, *, cut: bool) -> None:
    """The record may be under any span of the turn that is in no tool; one that is too long is there in part."""
    spans = codex_turn()
    told = {"response": "It is on its way.", "response_truncated": cut, "agent.type": "main"}
    (found,) = assemble(spans, [codex_record(spans[place], "agent_response", **told)])
    assert (found.reply, found.session) == ("It is on its way.", "c-1")
    assert [gap.kind for gap in found.gaps if gap.field == "reply"] == ([GapKind.TRUNCATED] if cut else [])


@pytest.mark.parametrize(
    ("told", "result", "error", "cut"),
    [
        ({"success": "true", "output": "Exit code: 0\nOutput:\na"}, "Exit code: 0\nOutput:\na", None, False),
        ({"success": "true", "output": "a", "output_truncated": True}, "a", None, True),
        ({"success": "false", "output": "no such order"}, MISSING, "no such order", False),
        ({"success": "false"}, MISSING, "success is false", False),
    ],
)
def test_what_a_tool_of_codex_gave(told: dict[str, Any], result: Any, error: str | None, cut: bool) -> None:
    """A frame stays where the tool itself wrote it; a failure has an error and no result."""
    note = note_of(called(codex_turn()[5], **told))
    assert note is not None
    assert (note.facts.kind, note.facts.result, note.facts.error) == (Kind.TOOL, result, error)
    assert [mark.kind for mark in note.facts.marks] == ([GapKind.TRUNCATED] if cut else [])


def test_prompts_that_codex_leaves_out() -> None:
    """A prompt that is left out is a gap with the setting; no tool has arguments where records are not exported."""
    spans = codex_turn()
    (found,) = assemble(spans, [codex_record(spans[2], "user_prompt", prompt="[REDACTED]")])
    gap = found.gap("asked")
    assert gap is not None
    assert gap.setting == codex.SETTING
    (call,) = found.tool_calls
    assert (call.name, call.arguments) == ("get_order", None)
    assert any("log_user_prompt" in (gap.setting or "") for gap in call.gaps)


@pytest.mark.parametrize("scope", ["codex_exec", "codex-app-server", "Codex Desktop"])
def test_the_programs_of_codex(scope: str) -> None:
    """The scope is the name of the program that runs it."""
    found = facts_of(span("session_task.turn", scope=Scope(scope), attributes={"model": "gpt-5"}))
    assert found is not None
    assert (found.kind, found.weak_agent) == (Kind.AGENT, "codex")


def test_the_inside_of_codex_is_ordinary() -> None:
    """Most spans are functions of the program; those of others in the same scope's words are not read at all."""
    assert facts_of(span("mcp.tools.call", scope=CODEX, attributes={"tool.name": "get_order"})) is None
    assert facts_of(span("session_task.turn")) is None


def opencode_step(parent: Span, asked: str, said: str | None, calls: Any = None, **fields: Any) -> list[Span]:
    """A step: a stream of the SDK's with its model's call."""
    told = {"ai.response.text": said or "", "ai.response.toolCalls": None if calls is None else json.dumps(calls)}
    of = {"ai.telemetry.functionId": "session.llm"}
    stream = span("ai.streamText", parent=parent, **fields, attributes={
        **of, **told, "ai.operationId": "ai.streamText",
        "ai.prompt": json.dumps({"messages": [{"role": "user", "content": asked}]})})  # fmt: skip
    return [stream, span("ai.streamText.doStream", parent=stream, attributes={
        **of, **told, "ai.operationId": "ai.streamText.doStream", "ai.response.model": "m",
        "ai.prompt.messages": json.dumps([{"role": "user", "content": asked}])})]  # fmt: skip


def test_a_prompt_of_opencode() -> None:
    """Its steps are one Interaction; what makes the title is none, and no call of the agent's."""
    root = span("SessionPrompt.prompt", scope=OPENCODE, seconds=9)
    loop = span("SessionPrompt.loop", parent=root)
    title = span("SessionPrompt.ensureTitle", parent=loop)
    ask = {"type": "tool-call", "toolCallId": "c1", "toolName": "get_order", "input": {"id": "o_9"}}
    first = opencode_step(loop, "Where is o_9?", None, [ask])
    tool = span("ai.toolCall", parent=first[0], attributes={
        "ai.operationId": "ai.toolCall", "ai.toolCall.name": "get_order", "ai.toolCall.id": "c1",
        "ai.toolCall.args": '{"id":"o_9"}', "ai.toolCall.result": json.dumps(
            {"title": "", "metadata": {"truncated": False}, "output": '{"status":"sent"}', "content": []})})  # fmt: skip
    last = opencode_step(loop, "Where is o_9?", "It was sent.", started_ns=root.started_ns + 5)
    (found,) = assemble([root, loop, title, *opencode_step(title, "Make a title", "Order"), *first, tool, *last])
    assert (found.agent, found.asked, found.reply) == ("opencode", "Where is o_9?", "It was sent.")
    assert [(c.name, c.arguments, c.result) for c in found.tool_calls] == [
        ("get_order", {"id": "o_9"}, {"status": "sent"})
    ]
    assert len(found.model_calls) == 2


def test_a_subagent_of_opencode_runs_below_its_tools_span() -> None:
    """The call is written twice, beside one another; what runs below is an Interaction of its own."""
    root = span("SessionPrompt.prompt", scope=OPENCODE, seconds=9)
    ask = {"type": "tool-call", "toolCallId": "c1", "toolName": "task", "input": {"prompt": "Refund o_9"}}
    first = opencode_step(root, "Give it away", None, [ask])
    written = span("ai.toolCall", parent=first[0], attributes={
        "ai.operationId": "ai.toolCall", "ai.toolCall.name": "task", "ai.toolCall.id": "c1",
        "ai.toolCall.args": '{"prompt":"Refund o_9"}', "ai.toolCall.result": '"Refunded."'})  # fmt: skip
    tool = span("Tool.execute", parent=root, attributes={"tool.name": "task", "tool.call_id": "c1", "session.id": "s1"})
    inner = span("SessionPrompt.prompt", parent=tool)
    spans = [root, *first, written, tool, inner, *opencode_step(inner, "Refund o_9", "Refunded.")]
    spans += opencode_step(root, "Give it away", "Done.", started_ns=root.started_ns + 5)
    outer, below = sorted(assemble(spans), key=lambda found: found.parent_id is not None)
    assert (outer.asked, outer.reply, [call.name for call in outer.tool_calls]) == ("Give it away", "Done.", ["task"])
    assert (below.parent_id, below.asked, below.reply) == (outer.id, "Refund o_9", "Refunded.")


def test_a_step_of_opencode_whose_root_never_came() -> None:
    """A function of the program's is no agent's name."""
    (found,) = assemble(opencode_step(span("SessionProcessor.process", scope=OPENCODE), "Hello", "Hi."))
    assert (found.agent, found.reply) == ("opencode", "Hi.")


def test_what_gemini_cli_streams_is_one_message() -> None:
    """Each piece of the stream stands as a message; an MCP server's tool gives its text between tags."""
    sent = [
        {"role": "user", "parts": [{"text": "Where is o_9?"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "get_order", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "get_order", "response": {
            "output": '<untrusted_context>\n{"status":"sent"}\n</untrusted_context>'}}}]},
    ]  # fmt: skip
    said = [{"role": "model", "parts": [{"text": text}]} for text in ("It was ", "sent.")]
    call = span("llm_call", scope=GEMINI, attributes={
        "gen_ai.operation.name": "llm_call", "gen_ai.agent.name": "gemini-cli",
        "gen_ai.input.messages": json.dumps(sent), "gen_ai.output.messages": json.dumps(said)})  # fmt: skip
    (found,) = assemble([call])
    assert (found.asked, found.reply) == ("Where is o_9?", "It was sent.")
    assert [made.result for made in found.tool_calls] == [{"status": "sent"}]


@pytest.mark.parametrize(
    ("response", "result", "error"),
    [
        ({"output": "<untrusted_context>\nsent\n</untrusted_context>"}, "sent", None),
        ({"output": "sent"}, {"output": "sent"}, None),
        ({"error": "tool is down"}, MISSING, "tool is down"),
    ],
)
def test_what_a_tool_of_gemini_cli_gave(response: Any, result: Any, error: str | None) -> None:
    """The answer stands beside the request in 0.61; one that is an error alone is a failure."""
    answer = {"callId": "c1", "responseParts": [{"functionResponse": {"name": "get_order", "response": response}}]}
    told = {"status": "success", "request": {"callId": "c1", "name": "get_order", "args": {}}, "response": answer}
    facts = facts_of(span("tool_call", scope=GEMINI, attributes={
        "gen_ai.operation.name": "tool_call", "gen_ai.tool.name": "get_order", "gen_ai.tool.call_id": "c1",
        "gen_ai.output.messages": json.dumps(told)}))  # fmt: skip
    assert facts is not None
    assert (facts.result, facts.error) == (result, error)


def test_records_of_gemini_cli_say_what_the_model_was_sent() -> None:
    """Without ``telemetry.traces`` spans hold no content."""
    call = span("llm_call", scope=GEMINI, attributes={"gen_ai.operation.name": "llm_call"})
    sent = json.dumps([{"role": "user", "parts": [{"text": "Where is o_9?"}]}])
    record = log_record(
        "gemini_cli.api_request", span=call, scope=Scope("gemini-cli"), attributes={"request_text": sent}
    )
    (found,) = assemble([call], [record])
    assert found.asked == "Where is o_9?"
    told = facts_of(call)
    assert told is not None
    assert "traces: true" in (told.setting or "")


@pytest.mark.parametrize("name", ["a" * 64, f"{'0' * 64}/{'f' * 64}"])
def test_names_that_copilot_hashes_are_not_captured(name: str) -> None:
    """Better no tool call than one of a name that nobody knows: a forbidding check must not pass by it."""
    root = span("invoke_agent", scope=COPILOT, attributes={"gen_ai.operation.name": "invoke_agent"})
    call = span("chat m", parent=root, attributes={"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})
    tool = span(
        "execute_tool", parent=root, attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    )
    (found,) = assemble([root, call, tool])
    assert (found.agent, found.tool_calls) == ("copilot", ())
    gap = found.gap("tool_calls")
    assert gap is not None
    assert gap.setting == "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"


def test_copilot_is_read_by_the_standard() -> None:
    """A tool with a name is one, and an agent with a name has it."""
    root = span("invoke_agent x", scope=COPILOT, attributes={
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "x"})  # fmt: skip
    tool = span("execute_tool", parent=root, attributes={
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "orders-get_order"})  # fmt: skip
    (found,) = assemble([root, tool])
    assert (found.agent, [call.name for call in found.tool_calls]) == ("x", ["orders-get_order"])
