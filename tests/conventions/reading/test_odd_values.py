"""Whatever stands in the attributes, reading a span never raises: one odd span must not stop the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.digest import revision_digest
from otel_eval.conventions.reading.values import decode, decode_leniently
from otel_eval.conventions.registry import facts_of, note_of
from otel_eval.interaction_json import from_json, to_json
from otel_eval.signals import LogRecord, Scope, Span, SpanEvent
from otel_eval.testing.spans import span

KEYS = (
    "gen_ai.operation.name", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions",
    "gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.response.finish_reasons",
    "gen_ai.usage.input_tokens", "gen_ai.prompt", "gen_ai.prompt.0.content", "gen_ai.prompt.0.content.1",
    "gen_ai.completion.0.role", "gen_ai.agent.name", "gen_ai.conversation.id", "openinference.span.kind",
    "input.value", "output.value", "llm.input_messages.0.message.content", "llm.input_messages.x.message.role",
    "llm.output_messages.1.message.tool_calls.0.tool_call.function.arguments", "metadata", "tool.parameters",
    "pydantic_ai.all_messages", "pydantic_ai.new_message_index", "all_messages_events", "final_result", "events",
    "model_request_parameters", "error.type", "llm.invocation_parameters", "agent_name", "tool_response",
    "traceloop.span.kind", "traceloop.entity.name", "traceloop.entity.input", "traceloop.entity.output", "tool.name",
    "tool.arguments", "traceloop.workflow.name", "crewai.crew.tasks_output", "crewai.event_name", "crewai.task.description",
    "haystack.agent.input", "haystack.agent.output", "haystack.component.output", "haystack.pipeline.input_data",
    "haystack.component.type", "messages", "response.message.blocks", "arguments",
    "ai.operationId", "ai.prompt", "ai.prompt.messages", "ai.response.text", "ai.response.toolCalls", "ai.toolCall.args",
    "mastra.span.type", "mastra.agent_run.input", "mastra.agent_run.output", "mastra.model_step.output", "mastra.metadata.body",
    "genkit:type", "genkit:metadata:subtype", "genkit:name", "genkit:input", "genkit:output", "user_prompt", "tool_input",
    "langfuse.observation.type", "langfuse.observation.input", "langfuse.observation.output", "langfuse.observation.usage_details",
    "mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.chat.tokenUsage", "langsmith.span.kind",
    "langsmith.metadata.usage_metadata", "lmnr.span.type", "lmnr.span.input", "spring.ai.kind", "spring.ai.tool.call.result",
    "span.type", "lk.chat_ctx", "lk.response.function_calls", "lk.function_tool.output", "input", "output",
)  # fmt: skip
WORDS = (
    "", "chat", "invoke_agent", "execute_tool", "AGENT", "LLM", "TOOL", "CHAIN", "user", "assistant", "tool", "text",
    "ai.generateText", "ai.toolCall", "agent_run", "model_step", "flow", "model", "generation", "span", "interaction",
    "workflow", "task", "agent", "tool_call", "tool_call_response", "__REDACTED__", "{", "[1", '"', "42", "{'a': 1}", "null", "NaN", "\ud83d", "\x00",
)  # fmt: skip
FIELDS = (
    "role", "content", "parts", "type", "tool_calls", "function", "name", "arguments", "id", "result", "response",
    "kwargs", "data", "message", "messages", "text", "lc", "output", "args", "choices", "generations", "status",
)  # fmt: skip

plain = st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.sampled_from(WORDS) | st.text(max_size=5)
tree = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)
encoded = tree.map(lambda value: json.dumps(value)) | tree.map(repr) | tree.map(lambda v: json.dumps(json.dumps(v)))
values = tree | encoded | encoded.map(lambda text: text[: len(text) // 2])
attributes = st.dictionaries(st.sampled_from(KEYS), values, max_size=8)
events = st.builds(
    SpanEvent, st.sampled_from(("gen_ai.user.message", "gen_ai.choice", "exception", "gen_ai.content.prompt")), st.just(1), attributes
)  # fmt: skip
SCOPES = (
    "", "pydantic-ai", "openinference.instrumentation.langchain", "openinference.instrumentation.llama_index",
    "openinference.instrumentation.smolagents", "opentelemetry.instrumentation.crewai",
    "opentelemetry.instrumentation.llamaindex", "@traceloop/instrumentation-langchain", "llamaindex.opentelemetry.tracer",
    "com.anthropic.claude_code.tracing", "com.anthropic.sdk.python", "livekit-agents", "pipecat", "io.quarkus.opentelemetry",
    "mlflow.tracing.provider",
)  # fmt: skip
spans = st.builds(
    lambda attributes, events, scope, name, number: Span(
        trace_id="a" * 32,
        span_id=f"{number:016x}",
        parent_id=f"{number // 2:016x}",
        name=name,
        attributes=attributes,
        events=tuple(events),
        scope=Scope(scope),
        started_ns=number,
        ended_ns=number + 1,
    ),
    attributes,
    st.lists(events, max_size=2),
    st.sampled_from(SCOPES),
    st.sampled_from(
        (
            "chat m",
            "invoke_agent a",
            "X.run",
            "agent run",
            "haystack.agent.run",
            "haystack.pipeline.run",
            "execute agent",
            "agent_turn",
            "llm_node",
            "function_tool",
            "llm",
            "langchain4j.tools.f",
            "claude_code.tool",
        )
    ),
    st.integers(1, 20),
)


@pytest.mark.timeout(400)  # cut off by the usual one, Hypothesis would call its own strategy flaky
@settings(max_examples=300)
@given(st.lists(spans, max_size=5))
def test_no_attributes_break_the_assembler(some: list[Span]) -> None:
    """Any values under any known keys give Interactions that can be told apart, stored and read again."""
    for interaction in assemble(some):
        assert revision_digest(interaction)
        written: Any = json.loads(json.dumps(to_json(interaction)))
        assert from_json(written).id == interaction.id


@settings(max_examples=150)
@given(
    attributes,
    values,
    st.sampled_from(("gen_ai.choice", "gen_ai.tool.message", "gen_ai.client.inference.operation.details")),
)
def test_no_log_record_breaks(told: dict[str, Any], body: Any, name: str) -> None:
    """Any body and attributes of a GenAI log record can be read."""
    note_of(LogRecord(trace_id="a" * 32, span_id="b" * 16, event_name=name, body=body, attributes=told))


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, '{"a":' * 3000 + "1" + "}" * 3000, "(" * 3000 + ")" * 3000])
@pytest.mark.parametrize("key", ["gen_ai.input.messages", "gen_ai.tool.call.arguments", "input.value", "output.value"])
def test_deep_nesting_is_survived(text: str, key: str) -> None:
    """Nesting that exhausts a parser's stack is left as text."""
    decode_leniently(text)
    for kind in ("chat", "execute_tool"):
        facts_of(
            Span(
                trace_id="a" * 32,
                span_id="b" * 16,
                attributes={key: text, "gen_ai.operation.name": kind, "openinference.span.kind": "CHAIN"},
            )
        )


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ('{"text": "cut \\ud83d"}', {"text": "cut \ufffd"}),
        ('{"\\udc00": ["\\ud83d\\ude00 \\ud800"]}', {"\ufffd": ["\U0001f600 \ufffd"]}),
        ("{'text': 'cut \\ud83d'}", {"text": "cut \ufffd"}),
    ],
)
def test_half_a_pair_of_surrogates_is_replaced(text: str, decoded: object) -> None:
    """A text that was cut within an emoji is one that UTF-8 can write: nothing behind us takes the half."""
    assert decode(text) == decoded


@pytest.mark.parametrize("number", [2**63 - 1, 2**64 - 1, 2**64, -(2**63) - 1, -(10**18) * 7 - 1, 10**40 + 7])
def test_integers_beyond_64_bits_are_exact(number: int) -> None:
    """An amount in the smallest unit of a currency, or an id of 128 bits: a float in its place is another number."""
    call = {"type": "tool_call", "id": "c1", "name": "pay", "arguments": {"wei": number, "to": "0x9", "share": 0.5}}
    said = [{"role": "assistant", "parts": [call]}]
    chat = span("chat m", attributes={"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(said)})
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pay", "gen_ai.tool.call.id": "c1"}
    taken = {"gen_ai.tool.call.arguments": json.dumps(call["arguments"])}
    for spans in ([chat], [chat, span("execute_tool pay", parent=chat, attributes={**tool, **taken})]):
        (found,) = assemble(spans)
        assert found.tool_calls[0].arguments == call["arguments"]
        assert from_json(to_json(found)) == found


@pytest.mark.parametrize("text", ["[" + "9" * 5000 + "]", "[" * 900 + "1" * 20 + "]" * 900])
def test_what_python_does_not_read_is_read_as_before(text: str) -> None:
    """More digits, or deeper, than Python's own reader takes."""
    assert decode_leniently(text) is not None


def test_digits_in_texts_and_fractions_stay_what_they_are() -> None:
    assert decode('{"a": "12345678901234567890123", "b": 0.12345678901234567890, "c": 1}') == {
        "a": "12345678901234567890123",
        "b": 0.12345678901234567890,
        "c": 1,
    }
