"""OpenInference (Arize): ``openinference.span.kind``, flattened ``llm.*`` messages, ``input.value`` and ``output.value``.

Source: openinference-semantic-conventions 0.1.42. Content is on by default; hidden content reads ``__REDACTED__``.
Each framework's instrumentation puts its own objects into ``input.value``: :mod:`otel_eval.conventions.reading.payloads`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions import genai_operations, google_adk, openinference_langchain4j
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.openinference_messages import messages_in
from otel_eval.conventions.reading.answers import answer_id, answer_messages
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import failure_of, is_control_flow, is_vercels, tool_error_of
from otel_eval.conventions.reading.langgraph import entrypoint_in
from otel_eval.conventions.reading.languages import lost_its_end
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.payloads import Payload, input_payload, is_object_repr, output_payload
from otel_eval.conventions.reading.run_together import apart
from otel_eval.conventions.reading.tool_payloads import tool_arguments, tool_outcome
from otel_eval.conventions.reading.values import containers, decode_leniently, first_text, is_object, text
from otel_eval.interaction import GapKind, JsonValue, Message
from otel_eval.signals import Span

KINDS: dict[str, Kind] = {
    "AGENT": Kind.AGENT,
    "CHAIN": Kind.WORKFLOW,  # a step, where an agent's span is above it
    "LLM": Kind.MODEL,
    "TOOL": Kind.TOOL,
    "EVALUATOR": Kind.EVALUATOR,
    "GUARDRAIL": Kind.CHECK,
    "RETRIEVER": Kind.OTHER,
    "RERANKER": Kind.OTHER,
    "EMBEDDING": Kind.OTHER,
    "PROMPT": Kind.OTHER,
    "DECISION": Kind.OTHER,
    "UNKNOWN": Kind.OTHER,
}

USAGE_KEYS = {
    "input_tokens": ("llm.token_count.prompt",),
    "output_tokens": ("llm.token_count.completion",),
    "cache_read_tokens": ("llm.token_count.prompt_details.cache_read",),
    "cache_write_tokens": ("llm.token_count.prompt_details.cache_write",),
    "reasoning_tokens": ("llm.token_count.completion_details.reasoning",),
}

_NAMES = ("agent.name", "gen_ai.agent.name", "agno.agent", "agno.team")  # the last two until 0.1.10
SETTING = "OPENINFERENCE_HIDE_INPUTS=false OPENINFERENCE_HIDE_OUTPUTS=false"


def read(span: Span) -> Facts | None:
    """What the span says in OpenInference's attributes; None without a kind, except for what ``llm.*`` tells alone."""
    attributes = span.attributes
    kind = KINDS.get(str(attributes.get("openinference.span.kind", "")).upper())
    if kind is None:
        if attributes.get("llm.model_name") is None and not any(
            key.startswith("llm.input_messages.") for key in attributes
        ):
            return None
        kind = Kind.MODEL  # the SDK drops the oldest attribute past its limit: the one that said the kind
    if kind is Kind.MODEL and span.name.startswith("invoke_agent "):
        kind = Kind.AGENT  # written over a native agent's span (Google ADK 2)
    if kind is Kind.WORKFLOW and _SHAPE in attributes:
        kind = Kind.MODEL  # instructor's create is called a chain
    if is_vercels(span) and "gen_ai.operation.name" in attributes:
        own = genai_operations.kind_of(span)
        if own in (Kind.AGENT, Kind.MODEL, Kind.STEP):
            return Facts(kind=own)  # a step is called a model's call, and several results of tools are one
    if kind is Kind.AGENT and _is_langchain(span):
        kind = _langchain_kind(span)
    if kind is Kind.AGENT and openinference_langchain4j.is_service(span):
        return openinference_langchain4j.service(span, SETTING)
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    if kind is Kind.MODEL:
        return _model(span, content)
    if kind in (Kind.AGENT, Kind.WORKFLOW, Kind.STEP):
        return _agent(span, kind, content)
    return Facts(kind=kind)


def _agent(span: Span, kind: Kind, content: Content) -> Facts:
    attributes = span.attributes
    taken = input_payload(_shown(content, "input", "input.value"))
    if taken == Payload():
        taken = input_payload(attributes.get("crew_inputs"))  # CrewAI, on the kickoff
    messages = messages_in(content, "input")
    given = output_payload(_shown(content, "output", "output.value"), structured=kind is Kind.AGENT)
    name = first_text(attributes, _NAMES) or _agent_in_metadata(span.name, attributes)
    node = first_text(attributes, ("graph.node.name", "graph.node.id")) if kind is Kind.AGENT else None
    if name is None and kind is Kind.AGENT and span.scope.name.endswith(("claude_agent_sdk", "claude-agent-sdk")):
        sdk, _, method = span.name.partition(".")  # nothing else tells a subagent's span from its parent's
        name = method if method == "Subagent" else sdk
    if kind is Kind.AGENT and not (name or node) and "openai_agents" in span.scope.name.replace("-", "_"):
        kind = Kind.WORKFLOW  # the SDK's trace, which has the workflow's name
    return Facts(
        kind=kind,
        agent=name or (node if kind is Kind.AGENT else None),
        weak_agent=_name_of(span.name),
        input=_own(attributes, _with_system(taken.messages, messages) if taken.messages else messages),
        asked=taken.text,
        prompt=_task(content) if "crew_id" in attributes else None,
        output=given.messages,
        reply=given.text,
        pseudo_tools=given.pseudo_tools,
        model=first_text(attributes, ("llm.response.model_name", "llm.model_name")),
        usage=usage_of(attributes, USAGE_KEYS),
        aggregated=True,
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _task(content: Content) -> str | None:
    """What CrewAI's only task says, or the task that an agent has done: models that nothing instruments are asked that.

    Source: openinference-instrumentation-crewai 1.1 (``_wrappers``); a ``TaskOutput`` has its task's description.
    """
    tasks = decode_leniently(content.attributes.get("crew_tasks"))
    done = decode_leniently(content.attributes.get("output.value"))
    found = tasks[0] if isinstance(tasks, list) and len(tasks) == 1 else done
    said = text(found.get("description")) if is_object(found) else None
    return None if content.hidden("input", said) else said


def _name_of(span_name: str) -> str | None:
    for ending in (".run", ".arun", ".kickoff", "._execute_core", ".execute", ".invoke"):
        span_name = span_name.removesuffix(ending)
    if span_name.startswith(("invocation [", "agent_run [")) and span_name.endswith("]"):
        span_name = span_name.partition("[")[2][:-1]
    return span_name or None


def _agent_in_metadata(name: str, attributes: Mapping[str, Any]) -> str | None:
    metadata = decode_leniently(attributes.get("metadata"))
    if not is_object(metadata):
        return None
    started = entrypoint_in(name, text(metadata.get("langgraph_node")), metadata.get("langgraph_triggers"))
    return text(metadata.get("lc_agent_name")) or started


def _is_langchain(span: Span) -> bool:
    return span.scope.name.endswith(("instrumentation.langchain", "instrumentation-langchain"))


def _langchain_kind(span: Span) -> Kind:
    """LangChain's instrumentation calls everything an agent that has ``agent`` in its name: tools, and nodes of graphs.

    The node that calls the model is named ``agent`` in LangGraph's prebuilt agents and in most graphs made by hand.
    """
    metadata = decode_leniently(span.attributes.get("metadata"))
    node = metadata.get("langgraph_node") if is_object(metadata) else None
    if node is None or span.name == metadata.get("lc_agent_name"):
        # parts of an executor: RunnableParallel<agent_scratchpad>, ToolsAgentOutputParser
        return Kind.STEP if span.name.startswith("Runnable") or span.name.endswith("OutputParser") else Kind.AGENT
    if span.name != node:  # a tool, else a function between nodes: ``route_to_active_agent``
        return Kind.TOOL if "tool.name" in span.attributes else Kind.STEP
    if node.endswith((".before_agent", ".after_agent")):  # a middleware's, in LangChain 1
        return Kind.STEP
    return Kind.STEP if node == "agent" else Kind.AGENT


def _own(attributes: Mapping[str, Any], messages: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    """Without what Google ADK quotes of other agents, where its own attributes stand beside OpenInference's."""
    return google_adk.own(messages) if "gcp.vertex.agent.invocation_id" in attributes else messages


def _shown(content: Content, field: str, key: str) -> Any:
    raw = content.attributes.get(key)
    if raw is None or content.hidden(field, raw):
        return None
    # the beginning of a tool's value is evidence; of an object with messages in it, it is nothing
    return None if content.cut(field, raw) and field in ("input", "output") else raw


def _model(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    request = containers(_shown(content, "input", "input.value"))
    answer = containers(_shown(content, "output", "output.value"))
    if is_object_repr(answer):
        answer = None  # a stream, before anything came of it
    inputs = (read_messages(request) or None) if span.dropped_attributes and is_object(request) else None
    if inputs is None:
        inputs = messages_in(content, "input")
    outputs = messages_in(content, "output")
    if inputs is not None and request is None and outputs is None and lost_its_end(span):
        inputs = None  # the last of them, which was asked, may be among what was dropped
    if request is not None and (inputs is None or _has_tool_results(request)):
        told = read_messages(request)
        inputs = _with_system(told, inputs) if told else inputs
    if (outputs is None or not any(message.parts for message in outputs)) and answer is not None:
        outputs = answer_messages(answer) or outputs
    if outputs is None and _SHAPE in attributes and answer is not None:
        said = answer if isinstance(answer, str) else text(attributes.get("output.value"))
        outputs = read_messages([{"role": "assistant", "content": said}]) or None
    if _AS_WRITTEN[0] in attributes:
        inputs = None
    if _AS_WRITTEN[1] in attributes:
        outputs = None
    return Facts(
        kind=Kind.MODEL,
        aggregated=_SHAPE in attributes,
        agent=text(attributes.get("agent.name")),
        input=_own(attributes, inputs),
        output=apart(outputs, _tools(attributes)),
        system=_instructions(attributes, request),
        model=first_text(attributes, ("llm.response.model_name", "llm.model_name", "llm.request.model_name")),
        response_id=answer_id(answer),
        finish_reasons=tuple(filter(None, [text(attributes.get("llm.finish_reason"))])),
        usage=usage_of(attributes, USAGE_KEYS),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _tools(attributes: Mapping[str, Any]) -> Any:
    parameters = decode_leniently(attributes.get("llm.invocation_parameters"))
    return parameters.get("tools") if is_object(parameters) else None


_SHAPE = "instructor.response_model"

_AS_WRITTEN = ("gen_ai.input.messages", "gen_ai.output.messages")
"""Where OpenInference's processors convert other instrumentations' spans: they join the results in one message to one."""


def _has_tool_results(request: Any) -> bool:
    """Whether it is a request to Anthropic or Bedrock with results of tools.

    Several of them in one message are one in JavaScript's flattened messages, the last, and none is told to be an error;
    of Bedrock's, JavaScript's have the ids alone.
    Source: @arizeai/openinference-instrumentation-bedrock 0.5.1.
    """
    messages = request.get("messages") if is_object(request) else request
    held = [item.get("content") for item in messages if is_object(item)] if isinstance(messages, list) else []
    blocks = [block for content in held if isinstance(content, list) for block in content if is_object(block)]
    return any(block.get("type") == "tool_result" or is_object(block.get("toolResult")) for block in blocks)


def _with_system(told: tuple[Message, ...], flat: tuple[Message, ...] | None) -> tuple[Message, ...]:
    """Bedrock's instructions are no message: the flattened messages have them."""
    return (*(message for message in flat or () if message.role == "system" and message not in told), *told)


def _instructions(attributes: Mapping[str, Any], request: Any) -> str | None:
    for holder in (request, decode_leniently(attributes.get("llm.invocation_parameters"))):
        if is_object(holder):
            for key in ("instructions", "system"):
                if isinstance(holder.get(key), str):
                    return text(holder[key])
    return None


def _tool(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    name = first_text(attributes, ("tool.name", "tool_call.function.name"))
    raw = _shown(content, "result", "output.value")
    outcome = tool_outcome(raw) if raw is not None else None
    error = tool_error_of(span) or (outcome.error if outcome else None)
    shown = _shown(content, "arguments", "input.value")
    if shown is None:
        shown = _shown(content, "arguments", "tool_call.function.arguments")
    arguments: JsonValue | Missing = tool_arguments(shown) if shown is not None else _parameters(content)
    if isinstance(arguments, str) and arguments[:1] in ("{", "["):
        content.mark("arguments", GapKind.TRUNCATED)
    return Facts(
        kind=Kind.HANDOFF if _is_handoff(span, name) else Kind.TOOL,
        agent=text(attributes.get("tool.agent_role")),
        tool=name or span.name.removesuffix(".run") or None,
        arguments=arguments,
        result=outcome.result if outcome else MISSING,
        error=error,
        call_id=first_text(attributes, ("tool_call.id", "tool.id")) or (outcome.call_id if outcome else None),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _is_handoff(span: Span, name: str | None) -> bool:
    """OpenAI Agents writes a handoff as a tool's span ``handoff to X``, without a tool's name in Python."""
    return span.scope.name.endswith(("openai_agents", "openai-agents")) and span.name.startswith("handoff to ")


def _parameters(content: Content) -> JsonValue | Missing:
    """``tool.parameters`` is the schema in some instrumentations and the arguments in others."""
    raw = content.attributes.get("tool.parameters")
    value = decode_leniently(raw)
    if not is_object(value) or "properties" in value or value.get("type") == "object":
        return MISSING
    return content.json("arguments", "tool.parameters")


CONVENTION = Convention(
    name="openinference", read=read, prefixes=("openinference.", "llm.", "input.value", "output.value")
)
