"""tRPC-Agent-Go: messages of its own shape, under names of its own, GenAI's and Langfuse's."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind, Mark
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, Interaction, ToolCallPart, ToolResultPart, Usage
from otel_eval.signals import Scope, Span
from otel_eval.testing.spans import SECOND_NS, START_NS, span

TRPC = Scope("trpc.agent.go", "")
MIDDLE, LATER = START_NS + 2 * SECOND_NS, START_NS + 4 * SECOND_NS


def packed(arguments: dict[str, Any]) -> str:
    """Bytes, as Go's JSON writes them."""
    return b64encode(json.dumps(arguments).encode()).decode()


CALLS = {
    "role": "assistant",
    "tool_calls": [
        {"type": "function", "id": "c1", "function": {"name": "find", "arguments": packed({"id": 81})}},
    ],
}
RESULT = {"role": "tool", "content": '{"state":"paid"}', "tool_id": "c1", "tool_name": "find"}
ASKED = {"role": "user", "content": "Where is order 81?"}
SYSTEM = {"role": "system", "content": "Be brief."}
REPLY = {"role": "assistant", "content": "It is paid."}


def response(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A model's, or a tool's, response around that message."""
    choice = {"index": 0, "message": message, "delta": {"role": ""}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    return {"id": "r1", "model": "gpt-4o", "choices": [choice], "usage": usage, **more}


def traced(name: str, operation: str | None, parent: Span | None = None, **fields: Any) -> Span:
    """A span of the framework's tracer; values that are no text are written as JSON, as Go writes it."""
    when = {key: fields.pop(key) for key in ("started_ns", "seconds") if key in fields}
    told = {
        key: value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        for key, value in fields.items()
    }
    own = {} if operation is None else {"gen_ai.system": "trpc.go.agent", "gen_ai.operation.name": operation}
    attributes = own | {key.replace("__", "."): value for key, value in told.items()}
    return span(name, parent=parent, scope=TRPC, attributes=attributes, **when)


def facts(*args: Any, **fields: Any) -> Facts:
    """The facts of such a span."""
    found = facts_of(traced(*args, **fields))
    assert found is not None
    return found


def only(*spans: Span) -> Interaction:
    """The only Interaction of these spans."""
    (found,) = assemble(spans)
    return found


NAMES = {
    "0.x": (
        "call_llm",
        "trpc__go__agent__llm_request",
        "trpc__go__agent__llm_response",
        "trpc__go__agent__tool_call_args",
        "trpc__go__agent__tool_response",
    ),
    "langfuse": (
        "call_llm",
        *("langfuse__observation__input", "langfuse__observation__output") * 2,
    ),
}
RUNNERS: dict[str, dict[str, Any]] = {
    "0.x": {
        "trpc__go__agent__runner__input": {"messages": [ASKED]},
        "trpc__go__agent__runner__session_id": "s1",
        "trpc__go__agent__runner__user_id": "u1",
    },
    "langfuse": {"langfuse__trace__input": {"messages": [ASKED]}, "session__id": "s1", "user__id": "u1"},
}


@pytest.mark.parametrize("form", sorted(NAMES))
def test_a_run_of_0_x(form: str) -> None:
    """Requests, responses and tools under the framework's names, and under those that its exporter makes of them."""
    operation, request, answer, given, gave = NAMES[form]
    runner = traced("invocation", "run_runner", None, seconds=9, **RUNNERS[form])
    agent = traced("agent_run [shop]", None, runner, seconds=9)
    spans = [
        runner,
        agent,
        traced("call_llm", operation, agent, **{request: {"messages": [SYSTEM, ASKED]}, answer: response(CALLS)}),
        traced(
            "execute_tool find",
            "execute_tool",
            agent,
            started_ns=MIDDLE,
            gen_ai__tool__name="find",
            **{given: '{"id":81}', gave: response(RESULT)},
        ),
        traced("execute_tool (merged)", None, agent),
        traced(
            "call_llm",
            operation,
            agent,
            started_ns=LATER,
            **{request: {"messages": [SYSTEM, ASKED, CALLS, RESULT]}, answer: response(REPLY, id="r2")},
        ),
    ]
    found = only(*spans)
    assert (found.agent, found.session, found.user_id) == ("shop", "s1", "u1")
    assert (found.asked, found.reply, found.system) == ("Where is order 81?", "It is paid.", "Be brief.")
    (call,) = found.tool_calls
    assert (call.name, call.call_id, call.arguments, call.result) == ("find", "c1", {"id": 81}, {"state": "paid"})
    assert found.usage == Usage(input_tokens=14, output_tokens=4)


def test_an_agent_of_1_x() -> None:
    """GenAI's names with messages and choices in the framework's shape."""
    agent = facts(
        "invoke_agent shop",
        "invoke_agent",
        gen_ai__agent__name="shop",
        gen_ai__conversation__id="s1",
        gen_ai__input__messages=[ASKED],
        gen_ai__output__messages=response(REPLY)["choices"],
    )
    assert (agent.kind, agent.agent, agent.session) == (Kind.AGENT, "shop", "s1")
    assert [[message.text for message in said or ()] for said in (agent.input, agent.output)] == [
        ["Where is order 81?"],
        ["It is paid."],
    ]


def test_a_model_call_of_1_x() -> None:
    """Arguments in messages are Base64 there too; a tool's message names its call."""
    model = facts(
        "chat gpt-4o",
        "chat",
        gen_ai__request__model="gpt-4o",
        gen_ai__input__messages=[SYSTEM, ASKED, CALLS, RESULT],
        gen_ai__output__messages=response(CALLS)["choices"],
    )
    parts = [part for message in model.input or () for part in message.parts]
    assert ToolCallPart(name="find", arguments={"id": 81}, call_id="c1") in parts
    assert [(p.call_id, p.name, p.result) for p in parts if isinstance(p, ToolResultPart)] == [
        ("c1", "find", {"state": "paid"})
    ]
    assert model.output is not None
    assert model.output[0].parts == (ToolCallPart(name="find", arguments={"id": 81}, call_id="c1"),)


def test_the_standards_shape_serves_where_the_other_is_turned_off() -> None:
    """A payload policy may leave ``….otel`` alone."""
    told = [{"role": "user", "parts": [{"type": "text", "content": "Hello"}]}]
    model = facts("chat", "chat", gen_ai__input__messages__otel=told, gen_ai__output__messages__otel=told)
    assert [[message.text for message in said or ()] for said in (model.input, model.output)] == [["Hello"], ["Hello"]]


def test_a_streamed_piece_serves_where_there_is_no_whole() -> None:
    """A choice of a streamed response has a ``delta`` beside an empty message."""
    choice = {"index": 0, "message": {"role": ""}, "delta": {"role": "assistant", "content": "It"}}
    model = facts("chat", "chat", gen_ai__output__messages=[choice])
    assert [message.text for message in model.output or ()] == ["It"]


@pytest.mark.parametrize(
    ("payload", "kinds"),
    [
        ({"truncated": True, "prefix": "[{", "sha256": "ab", "original_bytes": 99999}, [GapKind.TRUNCATED]),
        ({"omitted": True, "sha256": "ab", "original_bytes": 99999}, [GapKind.TRUNCATED]),
        ({}, []),
    ],
)
def test_a_payload_past_the_limit_is_a_gap(payload: dict[str, Any], kinds: list[GapKind]) -> None:
    """An envelope says that there was more; its prefix is no message."""
    model = facts("chat", "chat", gen_ai__output__messages=payload)
    assert (model.output, list(model.marks)) == (None, [Mark(field="output", kind=kind) for kind in kinds])


@pytest.mark.parametrize(
    "said",
    [
        "Error: callable tool execution failed: down",
        "Error: streamable tool execution failed: down",
        "Error: tool not found",
    ],
)
def test_a_tool_that_failed_says_so_in_its_result(said: str) -> None:
    """0.x sets no status: the sentence in place of the result is the error."""
    failed = {"role": "tool", "content": said, "tool_id": "c1", "tool_name": "find"}
    tool = facts(
        "execute_tool find", "execute_tool", gen_ai__tool__name="find", gen_ai__tool__call__result=response(failed)
    )
    assert (tool.error, tool.call_id) == (said, "c1")


def test_a_model_that_failed_says_so_in_its_response() -> None:
    """0.x sets no status: the response holds the error, and no choice."""
    error = {"message": "the model is down", "type": "api_error"}
    model = facts("call_llm", "call_llm", trpc__go__agent__llm_response={"choices": None, "error": error})
    assert model.failure is not None
    assert (model.failure.type, model.failure.message) == ("api_error", "the model is down")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("For context: [triage] said: Transferring", False),
        ("For context: [triage] called tool `find` with parameters: {}", False),
        ("For context: [triage] `c1` tool returned result: {}", False),
        ("Tool `transfer_to_agent` called with parameters: {}", False),
        ("Transferring control to agent: refunds", False),
        ("For context: I bought it in May.", True),
        ("Transferring control to agent: how does that work?", True),
    ],
)
def test_other_agents_quoted_in_the_users_name(said: str, kept: bool) -> None:
    """What another agent said or did is told to the next one as a user's message, which nobody asked."""
    model = facts("chat", "chat", gen_ai__input__messages=[ASKED, {"role": "user", "content": said}])
    assert [message.text for message in model.input or ()] == ["Where is order 81?", *([said] if kept else [])]


def test_handing_over_is_no_tool_call() -> None:
    """``transfer_to_agent`` is the framework's own."""
    tool = facts("execute_tool transfer_to_agent", "execute_tool", gen_ai__tool__name="transfer_to_agent")
    assert (tool.kind, tool.pseudo_tools) == (Kind.HANDOFF, ("transfer_to_agent",))


def test_nothing_where_nothing_is_told() -> None:
    """``{}`` and ``N/A`` stand where a value does not apply."""
    tool = facts(
        "execute_tool find",
        "execute_tool",
        gen_ai__tool__name="find",
        trpc__go__agent__tool_call_args="N/A",
        trpc__go__agent__tool_response="{}",
    )
    assert (tool.arguments, tool.result) == (MISSING, MISSING)


def test_an_ordinary_span_of_the_tracer() -> None:
    """A program may start spans with it."""
    assert facts_of(traced("POST /chat", None)) is None
