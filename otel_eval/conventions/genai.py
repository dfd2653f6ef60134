"""OpenTelemetry's GenAI semantic conventions, all generations, with the places that deviate from the letter.

Source: semantic conventions 1.26 to 1.41 and semantic-conventions-genai (2026); see ``events.py`` for events and logs.
``gen_ai.input.messages``, ``gen_ai.output.messages`` and ``gen_ai.system_instructions`` since 1.37;
``gen_ai.tool.call.arguments`` and ``.result`` since 1.38; ``gen_ai.prompt`` and ``gen_ai.completion`` until 1.27; OpenLLMetry
until 0.50 and LiteLLM number theirs, ``gen_ai.prompt.0.role``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from otel_eval.conventions import events
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, fill
from otel_eval.conventions.genai_operations import AGENT_SPAN, kind_of
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_bare, is_control_flow, tool_error_of
from otel_eval.conventions.reading.languages import lost_its_end
from otel_eval.conventions.reading.messages import calls_in, read_messages, results_in
from otel_eval.conventions.reading.reasons import asks_for_tools, reasons_in
from otel_eval.conventions.reading.tool_payloads import is_command, is_tool_message, tool_outcome
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text
from otel_eval.interaction import Failure, Message
from otel_eval.signals import Span

SETTING = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"
SETTINGS: dict[str, str] = {
    "agent_framework": "ENABLE_SENSITIVE_DATA=true",
    "gcp.vertex.agent": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT",
    **dict.fromkeys(
        ("opentelemetry.instrumentation.openai_v2", "opentelemetry.instrumentation.botocore"),
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
    ),
    "opentelemetry.instrumentation.google_genai": SETTING,
    "opentelemetry.instrumentation.ag2": "TelemetryMiddleware(capture_content=True)",
    "Microsoft.SemanticKernel": "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true",
    "Experimental.Microsoft.": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",  # or EnableSensitiveData
    "Azure.AI.": "AZURE_EXPERIMENTAL_ENABLE_GENAI_TRACING=true AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true",
    "azure.": "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true",
    "AzureAIOpenTelemetryTracer": "AzureAIOpenTelemetryTracer(enable_content_recording=True)",
    "Agent365Sdk": "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true",
    "autogen": "",  # AutoGen's own spans never carry content
    "github.com/cloudwego/eino-ext/callbacks/": "",  # one writes all content, the other none
    "pkg/rules/": "",  # LoongSuite for Go: always on
    "org.springframework.boot": "",  # LangChain4j's observations never carry content; Spring AI's: see there
    "io.opentelemetry.": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",  # Java
    "semantic_kernel": "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true",
    "opentelemetry.instrumentation.genai": SETTING,
    "opentelemetry.instrumentation.": "TRACELOOP_TRACE_CONTENT=true",
    "gen_ai": "telemetry: {recordInputs: true, recordOutputs: true}",  # Vercel AI SDK 7
    "weave.openai_agents": "RunConfig(trace_include_sensitive_data=True)",
    "weave.": "start_conversation(include_content=True)",
    "openlit": "openlit.init(capture_message_content=True)",
    "@openlit/": "Openlit.init({captureMessageContent: true})",
    "@traceloop/": "traceContent: true",
    "@opentelemetry/instrumentation-openai": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
    "@elastic/opentelemetry-instrumentation-openai": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
    "github.copilot": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
    "strands": "OTEL_SEMCONV_STABILITY_OPT_IN without gen_ai_unredacted_attributes",
}
"""What turns the content on, by the beginning of the scope's name; the first that fits. Empty: nothing does."""

TOOL_CLASSES = frozenset({"DynamicStructuredTool", "DynamicTool", "StructuredTool"})
"""LangChain.js's classes, which OpenLIT for JavaScript writes in place of its tools' names."""
_ANSWERS = "This StructuredOutputTool should only be invoked as the last"
"""How Strands describes the tool with which the model hands over an object that was asked for."""
_UNNAMED_TOOLS = frozenset({"execute_tool", "tools/call", ""})
_ARGUMENTS = ("gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.input")
"""The standard's since 1.38, and names that came before it and live on: Ballerina's ``ai`` module, Sentry, many programs."""
_RESULTS = ("gen_ai.tool.call.result", "gen_ai.tool.output", "gen_ai.tool.result")
_WHOLE = ("gen_ai.input.messages", "gen_ai.prompt")
_UNTOLD = frozenset({"completed"})
"""The status of OpenAI's Responses API: it is the same whether the model answered or asked for tools."""


def read(span: Span) -> Facts | None:
    """What the span says in ``gen_ai.*``; None where nothing there tells what it is."""
    kind = kind_of(span)
    if kind is None:
        return None
    attributes, content = span.attributes, Content.of(span)
    if kind is Kind.OTHER:
        return Facts(kind=kind)
    values: dict[str, Any] = {
        "agent": text(attributes.get("gen_ai.agent.name")),
        "weak_agent": _weak_agent(span, kind),
        "session": text(attributes.get("gen_ai.conversation.id")),
        "input": _input(content),
        "output": _output(content),
        "system": content.instructions("gen_ai.system_instructions", "gen_ai.agent.system_instructions"),
        "control_flow": is_control_flow(span),
        "setting": _setting_of(span.scope.name),
    }
    values |= _tool(span, content) if kind is Kind.TOOL else _model(span, kind)
    if kind is Kind.HANDOFF and (tool := text(attributes.get("gen_ai.tool.name"))) is not None:
        values["pseudo_tools"] = (tool,)
    waits = kind is Kind.AGENT and any(map(_waits, (attributes, *(event.attributes for event in span.events))))
    if waits:
        values["output"] = None
    if kind is Kind.MODEL and _lost_calls(values["output"], values["finish_reasons"]):
        values["output"] = None
    if kind is Kind.MODEL and _are_choices(values["output"], values["finish_reasons"], attributes):
        values["output"] = values["output"][:1]
    if values["output"] is None and lost_its_end(span) and not any(key in attributes for key in _WHOLE):
        values["input"] = None  # of numbered messages the last, which was asked, may be among what was dropped
    if attributes.get("gen_ai.operation.name") == "output_messages":  # Agent 365: what was sent to the user
        values["reply"] = next((said.text for said in reversed(values["output"] or ()) if said.text), None)
    facts = Facts(kind=kind, marks=content.marks, **values)
    known = {"output": None} if waits else {}
    told = events.facts_of_events(span.events) if span.events else None
    if told is not None:
        facts = fill(facts, tool_events(told) if kind is Kind.TOOL else told, **known)
    return facts


@lru_cache(maxsize=1024)
def _setting_of(scope: str) -> str | None:
    found = next((setting for start, setting in SETTINGS.items() if scope.startswith(start)), SETTING)
    return found or None


def _weak_agent(span: Span, kind: Kind) -> str | None:
    if kind is Kind.WORKFLOW:
        return text(span.attributes.get("gen_ai.workflow.name")) or span.name.removeprefix("invoke_workflow ") or None
    if kind is Kind.AGENT and span.name.startswith(AGENT_SPAN):
        name = span.name.removeprefix(AGENT_SPAN)
        # some write the model's name there (Vercel AI SDK 7)
        return (
            None
            if name in (span.attributes.get("gen_ai.request.model"), span.attributes.get("gen_ai.response.model"))
            else name
        )
    return None


def _input(content: Content) -> tuple[Message, ...] | None:
    found = content.messages("input", "gen_ai.input.messages", "gen_ai.prompt")
    if found is None:
        found = content.numbered("input", "gen_ai.prompt.", "user")
    return found if found is not None else content.numbered("input", "gen_ai.input.messages.", "user")


def _output(content: Content) -> tuple[Message, ...] | None:
    found = content.messages("output", "gen_ai.output.messages", "gen_ai.completion", role="assistant")
    if found:
        return found
    legacy = content.numbered("output", "gen_ai.completion.", "assistant")
    if legacy or found is not None:
        return legacy or found
    return content.numbered("output", "gen_ai.output.messages.", "assistant")


def _are_choices(output: tuple[Message, ...] | None, reasons: tuple[str, ...], attributes: Mapping[str, Any]) -> bool:
    """Whether the messages are alternatives, of which programs take the first: each has a finish reason, or so many
    were asked for.

    "Each message corresponds to exactly one generation (choice/candidate)"; some write a stream's pieces as messages.
    """
    if output is None or len(output) < 2 or any(said.role != "assistant" or calls_in(said) for said in output):
        return False
    return len(output) in (len(reasons), len(reasons_in(attributes)), attributes.get("gen_ai.request.choice.count"))


def _lost_calls(output: tuple[Message, ...] | None, reasons: tuple[str, ...]) -> bool:
    """Whether the model asked for tools, and all that was written of it is an empty text (LangChain.js, LlamaIndex.TS).

    Or no text, where it may have asked for tools (OpenLIT for JavaScript).
    """
    return (
        output is not None
        and bool(reasons)
        and all(reason in _UNTOLD or asks_for_tools(reason) for reason in reasons)
        and not any(message.text or calls_in(message) for message in output or ())
    )


def _waits(attributes: Mapping[str, Any]) -> bool:
    """Whether the agent stopped to ask a human: its output is what it asks for, as Python writes it (Strands)."""
    raw = attributes.get("gen_ai.output.messages")
    if not isinstance(raw, str) or '"interrupt"' not in raw:
        return attributes.get("finish_reason") == "interrupt"  # of a span event
    output = decode_leniently(raw)
    return isinstance(output, list) and any(
        is_object(said) and said.get("finish_reason") == "interrupt" for said in output
    )


def _told_by_finish(attributes: Mapping[str, Any], reasons: tuple[str, ...]) -> Failure | None:
    """A finish reason ``error`` is a failure; the text beside it is its message (Agno, Mastra)."""
    raw = attributes.get("gen_ai.output.messages")
    if "error" not in reasons and isinstance(raw, str) and '"error"' not in raw:
        return None
    output = decode_leniently(raw)
    messages = [item for item in output if is_object(item)] if isinstance(output, list) else []
    for message in messages:
        if message.get("finish_reason") == "error":
            said = read_messages([message], "assistant")
            return Failure(type=None, message=(said[0].text if said else None) or "the model's finish reason is error")
    return Failure(message="the model's finish reason is error") if "error" in reasons else None


def finish_reasons_of(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """``gen_ai.response.finish_reasons``: an array, a JSON array in a string (LiteLLM, Mastra) or one reason."""
    raw = decode_leniently(
        attributes.get("gen_ai.response.finish_reasons", attributes.get("gen_ai.response.finish_reason"))
    )
    if isinstance(raw, str):
        raw = [reason.strip() for reason in raw.split(",")]
    reasons = [str(reason) for reason in raw if reason] if isinstance(raw, list) else []
    return tuple(reason for reason in reasons if not reason.startswith("<"))  # VeADK: <no_finish_reason_provided>


def _model(span: Span, kind: Kind) -> dict[str, Any]:
    attributes = span.attributes
    reasons = finish_reasons_of(attributes)
    if not reasons and kind is Kind.MODEL:
        reasons = reasons_in(attributes)
    return {
        "failure": failure_of(span) or _told_by_finish(attributes, reasons),
        "model": first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model")),
        "response_id": text(attributes.get("gen_ai.response.id")),
        "finish_reasons": reasons,
        "usage": usage_of(attributes),
        "aggregated": kind is not Kind.MODEL,
    }


def _tool(span: Span, content: Content) -> dict[str, Any]:
    attributes = span.attributes
    name = text(attributes.get("gen_ai.tool.name")) or span.name.removeprefix("execute_tool ").removeprefix(
        "tools/call "
    )
    if name in TOOL_CLASSES or name in _UNNAMED_TOOLS:
        name = ""
    call_id = first_text(attributes, ("gen_ai.tool.call.id", "gen_ai.tool.call_id"))
    result = content.result("result", *_RESULTS)
    error = tool_error_of(span)
    if is_command(result) or is_tool_message(result):
        outcome = tool_outcome(result)
        result, error = outcome.result, error or outcome.error
    if result is not MISSING and (error is None or is_bare(error)):
        error = error_in_result(result) or error
    if error is None and attributes.get("gen_ai.tool.status") == "error":
        error = str(result) if result is not MISSING else span.status_message or "gen_ai.tool.status is error"
    return {
        "tool": name or None,
        "arguments": content.json("arguments", *_ARGUMENTS),
        "result": result,
        "error": error,
        "call_id": None if call_id in ("<not specified>", "unknown") else call_id,
        "pseudo_tools": (name,) if _ANSWERS in str(attributes.get("gen_ai.tool.description", "")) else (),
    }


def tool_events(told: Facts) -> Facts:
    """On a tool's span, ``gen_ai.tool.message`` holds the arguments and ``gen_ai.choice`` the result (Strands)."""

    arguments: Any = MISSING
    result: Any = MISSING
    for message in told.input or ():
        for part in results_in(message):
            arguments = part.result
    for message in told.output or ():
        found = results_in(message)
        if found or message.text is not None:
            result = found[0].result if found else decode_leniently(message.text)
    fields = {"input": "arguments", "output": "result"}
    marks = tuple(replace(mark, field=fields.get(mark.field, mark.field)) for mark in told.marks)
    error = None if result is MISSING else error_in_result(result)
    return Facts(kind=Kind.TOOL, arguments=arguments, result=result, error=error, marks=marks)


CONVENTION = Convention(
    name="genai", read=read, prefixes=("gen_ai.", "mcp."), events=("gen_ai.",), read_log=events.read_log
)
