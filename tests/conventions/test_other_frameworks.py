"""Semantic Kernel, Dify and its likes, Gemini CLI, Agent 365, LiteLLM's records, and spans that nobody knows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.conventions.facts import MISSING, Facts, Kind
from otel_eval.conventions.registry import facts_of, note_of
from otel_eval.interaction import Usage
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import agent_span, log_record, message, model_span, span, tool_span

KERNEL = Scope("semantic_kernel.kernel")
DOTNET = Scope("Microsoft.SemanticKernel.Diagnostics")


def facts(name: str = "s", scope: str = "", **fields: Any) -> Facts:
    """The facts of a span."""
    found = facts_of(span(name, scope=Scope(scope), **fields))
    assert found is not None
    return found


def test_semantic_kernel_logs_the_arguments_of_its_calls() -> None:
    """Without sensitive data the arguments stand in a log line of the kernel alone, on the span of the loop."""
    root = agent_span(asked=None, reply=None)
    loop = span("AutoFunctionInvocationLoop", parent=root, attributes={"sk.available_functions": "Shop-get_order"})
    tool = tool_span("Shop-get_order", parent=loop)
    line = log_record(
        "", span=loop, scope=KERNEL, body='Calling Shop-get_order function with args: {"id": 9}', attributes={}
    )
    (found,) = assemble([root, loop, tool], [line])
    assert [(call.name, call.arguments) for call in found.tool_calls] == [("Shop-get_order", {"id": 9})]


@pytest.mark.parametrize(
    ("scope", "body"),
    [
        (KERNEL, "Calling x function with args"),
        (KERNEL, 'Calling x function with args: {"id": '),
        (KERNEL, {"a": 1}),
        (Scope("app"), 'Calling x function with args: {"id": 9}'),
    ],
)
def test_other_log_lines_say_nothing(scope: Scope, body: Any) -> None:
    """Only the kernel's own whole line is read."""
    assert note_of(log_record("", span=span(), scope=scope, body=body)) is None


def test_semantic_kernel_for_dotnet() -> None:
    """The first format of .NET: messages that are nearly JSON, counts of -1 for none."""
    prompt = '[{"role:" system, "content:" Be {kind}}, \n{"role:" user, "content:" Hi "you"}]'
    found = facts(
        "chat.completions gpt-4o",
        DOTNET.name,
        attributes={
            "gen_ai.operation.name": "chat.completions",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.response.prompt_tokens": 12,
            "gen_ai.response.completion_tokens": -1,
            "gen_ai.response.id": "N/A",
        },
        events=(
            SpanEvent("gen_ai.content.prompt", 0, {"gen_ai.prompt": prompt}),
            SpanEvent("gen_ai.content.completion", 0, {"gen_ai.completion": '[{"role:" Assistant, "content:" Hello}]'}),
        ),
    )
    assert found.kind is Kind.MODEL
    assert [(said.role, said.text) for said in found.input or ()] == [("system", "Be {kind}"), ("user", 'Hi "you"')]
    assert [(said.role, said.text) for said in found.output or ()] == [("assistant", "Hello")]
    assert found.usage == Usage(input_tokens=12)


@pytest.mark.parametrize(
    ("scope", "setting"),
    [
        ("Microsoft.SemanticKernel.Diagnostics", "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"),
        ("Experimental.Microsoft.Extensions.AI", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"),
        ("Experimental.Microsoft.Agents.AI", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"),
        ("opentelemetry.util.genai.handler", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
        ("azure.ai.inference", "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true"),
        ("Agent365Sdk", "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true"),
        ("com.example.unknown", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
    ],
)  # fmt: skip
def test_the_setting_that_turns_content_on(scope: str, setting: str) -> None:
    """By the instrumentation's scope; the conventions' own variable where nobody knows better."""
    assert facts("chat m", scope, attributes={"gen_ai.operation.name": "chat"}).setting == setting


def test_extensions_ai_for_dotnet() -> None:
    """Microsoft.Extensions.AI: the standard's attributes, and a span around the loop that calls tools."""
    root = agent_span(agent="support", asked="hi", reply="hello", scope=Scope("Experimental.Microsoft.Agents.AI"))
    loop = span("orchestrate_tools", parent=root, attributes={"gen_ai.operation.name": "orchestrate_tools"})
    call = model_span(parent=loop, messages=[message("user", "hi")], output=[message("assistant", "hello")])
    tool = tool_span("get_order", {"id": 9}, "sent", parent=loop)
    (found,) = assemble([root, loop, call, tool])
    assert (found.agent, found.asked, found.reply, len(found.tool_calls), len(found.model_calls)) == (
        "support", "hi", "hello", 1, 1,
    )  # fmt: skip


@pytest.mark.parametrize(("given", "came"), [("arguments", "output"), ("input", "result")])
def test_tools_in_names_from_before_the_standard(given: str, came: str) -> None:
    """Ballerina's ``ai`` module, whose values are JSON throughout; the standard's names come first."""
    own = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order", "span.type": "ai"}
    told = {f"gen_ai.tool.{given}": '{"id":"o_9"}', f"gen_ai.tool.{came}": '{"total":4999}'}
    found = facts("execute_tool get_order", "jaeger", attributes=own | told)
    assert (found.tool, found.arguments, found.result) == ("get_order", {"id": "o_9"}, {"total": 4999})
    standard = {"gen_ai.tool.call.arguments": '{"id":"o_1"}', "gen_ai.tool.call.result": "sent"}
    found = facts("execute_tool get_order", "jaeger", attributes=own | told | standard)
    assert (found.arguments, found.result) == ({"id": "o_1"}, "sent")


def test_agent_365_sends_its_answer_in_a_span_of_its_own() -> None:
    """``output_messages`` is what went out to the user; operations may be in capitals, messages in an envelope."""
    root = agent_span(asked="hi", reply=None)
    sent = span(
        "output_messages support",
        parent=root,
        attributes={
            "gen_ai.operation.name": "output_messages",
            "gen_ai.output.messages": json.dumps({"version": "0.1.0", "messages": [message("assistant", "hello")]}),
        },
    )
    (found,) = assemble([root, sent])
    assert found.reply == "hello"
    assert facts(attributes={"gen_ai.operation.name": "Chat"}).kind is Kind.MODEL


def dify(kind: str, name: str = "s", parent: Span | None = None, **attributes: Any) -> Span:
    """A span as Dify sends it to Alibaba's ARMS."""
    own = {"gen_ai.span.kind": kind, "gen_ai.framework": "dify", **attributes}
    return span(name, parent=parent, attributes=own)


def test_dify_is_read_whole() -> None:
    """A chatflow: the message's span, its workflow, a model's node and a tool's."""
    root = dify("CHAIN", "message", **{"gen_ai.session.id": "s-1", "gen_ai.user.id": "u-1", "input.value": "Refund 81"})
    flow = dify(
        "CHAIN",
        "workflow",
        root,
        **{"input.value": '{"sys.query": "Refund 81"}', "output.value": '{"answer": "Done."}'},
    )
    model = dify(
        "LLM",
        "LLM",
        flow,
        **{
            "gen_ai.request.model": "qwen",
            "gen_ai.prompt": '[{"role": "user", "text": "Refund 81", "files": []}]',
            "gen_ai.completion": "Done.",
            "gen_ai.usage.input_tokens": "7",
        },
    )
    tool = dify(
        "TOOL", "refund", flow, **{"tool.name": "refund", "input.value": '{"id": 81}', "output.value": '{"text": "ok"}'}
    )
    (found,) = assemble([root, flow, model, tool])
    assert (found.session, found.user_id, found.asked, found.reply) == ("s-1", "u-1", "Refund 81", "Done.")
    assert [(call.name, call.arguments, call.result) for call in found.tool_calls] == [
        ("refund", {"id": 81}, {"text": "ok"})
    ]
    assert found.usage == Usage(input_tokens=7)


@pytest.mark.parametrize(
    ("word", "kind"),
    [("AGENT", Kind.AGENT), ("GENERATION", Kind.MODEL), ("workflow", Kind.WORKFLOW), ("TASK", Kind.STEP), ("RETRIEVER", None), ("X", None)],
)  # fmt: skip
def test_span_kinds(word: str, kind: Kind | None) -> None:
    """``gen_ai.span.kind`` in any case; an unknown word says nothing."""
    found = facts_of(span(attributes={"gen_ai.span.kind": word}))
    assert (None if found is None else found.kind) is kind


def test_gemini_cli() -> None:
    """A prompt's span is the agent's; a tool's request and response objects stand where messages do."""
    scope = Scope("gemini-cli", "v1")
    stamp = {"gen_ai.agent.name": "gemini-cli", "gen_ai.conversation.id": "s-1"}
    root = span(
        "user_prompt",
        scope=scope,
        attributes={**stamp, "gen_ai.operation.name": "user_prompt", "gen_ai.input.messages": "List the files"},
    )
    tool = span(
        "tool_call",
        parent=root,
        attributes={
            **stamp,
            "gen_ai.operation.name": "tool_call",
            "gen_ai.tool.name": "list_directory",
            "gen_ai.input.messages": json.dumps({"callId": "c1", "name": "list_directory", "args": {"path": "."}}),
            "gen_ai.output.messages": json.dumps(
                {
                    "callId": "c1",
                    "responseParts": [
                        {"functionResponse": {"id": "c1", "name": "list_directory", "response": {"output": "a.txt"}}}
                    ],
                }
            ),
        },
    )
    call = span(
        "llm_call",
        parent=root,
        attributes={
            **stamp,
            "gen_ai.operation.name": "llm_call",
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"text": "List the files"}]}]),
            "gen_ai.output.messages": json.dumps([{"role": "model", "parts": [{"text": "There is a.txt."}]}]),
        },
    )
    (found,) = assemble([root, tool, call])
    assert (found.agent, found.session, found.asked, found.reply) == (
        "gemini-cli", "s-1", "List the files", "There is a.txt.",
    )  # fmt: skip
    assert [(made.name, made.arguments, made.result) for made in found.tool_calls] == [
        ("list_directory", {"path": "."}, {"output": "a.txt"})
    ]


def test_litellm_writes_a_record_for_each_message() -> None:
    """Its events are called after the first form, and are the second: the message is the body."""
    call = model_span()
    logs = [
        log_record("gen_ai.content.prompt", span=call, time_ns=1, body={"role": "user", "content": "hi"},
                   attributes={"gen_ai.prompt": "hi"}),
        log_record("gen_ai.content.prompt", span=call, time_ns=2, body={"role": "assistant", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}),
        log_record("gen_ai.content.prompt", span=call, time_ns=3,
                   body={"role": "tool", "tool_call_id": "c1", "content": "sent"}, attributes={"gen_ai.prompt": "sent"}),
        log_record("gen_ai.content.completion", span=call, time_ns=4,
                   body={"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}),
    ]  # fmt: skip
    (found,) = assemble([call], logs)
    assert (found.asked, found.reply) == ("hi", "hello")
    assert [(made.name, made.result) for made in found.tool_calls] == [("t", "sent")]


def test_answers_without_ids_go_to_calls_in_order() -> None:
    """LiteLLM's old attributes keep a tool's answer and neither its id nor the request."""
    root = agent_span(asked=None, reply=None)
    calls = [{"type": "tool_call", "id": f"c{n}", "name": "get_weather", "arguments": {"n": n}} for n in (1, 2)]
    first = model_span(parent=root, messages=[message("user", "hi")], output=[message("assistant", *calls)])
    flat = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hi", "gen_ai.prompt.1.role": "assistant"}
    for index, said in enumerate(("18C", "25C"), start=2):
        flat |= {f"gen_ai.prompt.{index}.role": "tool", f"gen_ai.prompt.{index}.content": said}
    flat |= {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "hello"}
    second = model_span(parent=root, started_ns=root.started_ns + 1, attributes=flat)
    (found,) = assemble([root, first, second])
    assert [(made.call_id, made.result) for made in found.tool_calls] == [("c1", "18C"), ("c2", "25C")]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"span.type": "agent", "input": "hi", "output": "hello", "entity.name": "shop"},
         (Kind.AGENT, "shop", "hi", "hello")),
        ({"span_type": "LLM", "input": '[{"role": "user", "content": "hi"}]'}, (Kind.MODEL, None, None, None)),
        ({"span.type": "agent", "input": '{"id": 9, "more": 1}', "output": '{"id": 9}'}, (Kind.AGENT, None, None, None)),
        ({"span.type": "agent", "entity.type": "TOOL"}, None),
        ({"span.type": "interaction", "input": "hi"}, None),
        ({"span.kind": "client", "input": "hi", "output": "hello"}, None),
        ({"input": "hi", "output": "hello"}, None),
    ],
)  # fmt: skip
def test_spans_that_nobody_knows(attributes: dict[str, Any], expected: Any) -> None:
    """A kind that is told and plain texts beside it are read; objects that are no messages, and guesses, are not."""
    found = facts_of(span(attributes=attributes))
    told = None if found is None else (found.kind, found.agent, found.asked, found.reply)
    assert told == expected


def test_an_unknown_tools_span() -> None:
    """Arguments and result under the usual names."""
    found = facts(attributes={"span.type": "tool", "tool.name": "t", "tool.arguments": '{"a": 1}', "output": "sent"})
    assert (found.kind, found.tool, found.arguments, found.result) == (Kind.TOOL, "t", {"a": 1}, "sent")
    assert facts(attributes={"span.type": "tool", "tool.name": "t"}).result is MISSING


def test_the_fallback_adds_nothing_to_what_is_known() -> None:
    """A span that a convention recognises is not read a second time under names that mean something else there."""
    found = facts(attributes={"gen_ai.operation.name": "invoke_agent", "span.type": "agent", "input": "not a question"})
    assert (found.asked, found.conventions) == (None, ("genai",))


def test_one_call_through_framework_client_and_server() -> None:
    """An MCP call has a span of the framework's, the client's and the server's: one call, with the content of any."""
    root = agent_span()
    outer = tool_span("get_order", parent=root, call_id="c1")
    client = span("tools/call get_order", parent=outer, kind=3,
                  attributes={"mcp.method.name": "tools/call", "gen_ai.tool.name": "get_order",
                              "gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": '{"id": 9}'})  # fmt: skip
    server = span("tools/call get_order", parent=client, kind=2,
                  attributes={"mcp.method.name": "tools/call", "gen_ai.tool.name": "get_order",
                              "gen_ai.tool.call.result": '{"status": "sent"}'})  # fmt: skip
    listing = span("tools/list", parent=root, attributes={"mcp.method.name": "tools/list"})
    (found,) = assemble([root, outer, client, server, listing])
    assert [(call.name, call.call_id, call.arguments, call.result) for call in found.tool_calls] == [
        ("get_order", "c1", {"id": 9}, {"status": "sent"})
    ]


@pytest.mark.parametrize(
    ("name", "kind", "node", "expected"),
    [
        ("agent", "AGENT", "agent", Kind.STEP),
        ("refund_agent", "AGENT", "refund_agent", Kind.AGENT),
        ("call_model", "CHAIN", "agent", Kind.STEP),
        ("order_agent", "AGENT", None, Kind.AGENT),
    ],
)
def test_a_graph_under_traceai(name: str, kind: str, node: str | None, expected: Kind) -> None:
    """Nodes, and what runs in them, are no agents but by their name."""
    found = facts_of(span(name, attributes={"gen_ai.span.kind": kind, "langgraph_node": node}))
    assert found is not None
    assert found.kind is expected


def test_semantic_kernels_usage_in_java() -> None:
    """The names are .NET's first."""
    attributes = {
        "gen_ai.operation.name": "chat.completions",
        "gen_ai.request.model": "gpt",
        "gen_ai.response.prompt_tokens": 21,
        "gen_ai.response.completion_tokens": 9,
    }
    found = facts_of(span("chat.completions gpt", scope=Scope("SemanticKernel"), attributes=attributes))
    assert found is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (21, 9)
