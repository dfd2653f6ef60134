"""OpenLLMetry (Traceloop), in Python and JavaScript: ``traceloop.span.kind`` and ``traceloop.entity.*``.

Source: traceloop-sdk 0.40 to 0.62, opentelemetry-instrumentation-{langchain,llamaindex,mcp,agno,openai-agents} 0.40 to
0.62, @traceloop/node-server-sdk and @traceloop/instrumentation-* 0.27. Model calls are read as GenAI: flattened
``gen_ai.prompt.N.*`` until about 0.50, ``gen_ai.input.messages`` since. Content is on unless TRACELOOP_TRACE_CONTENT=false.

``traceloop.entity.input`` and ``.output`` hold what a function took and returned: ``{"args": […], "kwargs": {…}}`` of the
decorators, ``{"inputs": …, "tags": …}`` and ``{"outputs": …}`` of LangChain, a bare text of Agno.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.langchain_reprs import is_content_whole
from otel_eval.conventions.reading.langgraph import entrypoint_in
from otel_eval.conventions.reading.payloads import Payload, input_of, input_payload, output_payload
from otel_eval.conventions.reading.placeholders import says_nothing
from otel_eval.conventions.reading.tool_payloads import ToolOutcome, tool_arguments, tool_outcome
from otel_eval.conventions.reading.values import (
    Undecodable,
    containers,
    decode,
    decode_leniently,
    first_text,
    is_object,
    text,
)
from otel_eval.interaction import GapKind, JsonValue
from otel_eval.signals import Span

SETTING = "TRACELOOP_TRACE_CONTENT=true"
JS_SETTING = "traceContent: true"
"""In the configuration of each of the JavaScript instrumentations, and of the SDK."""

KIND = "traceloop.span.kind"
INPUT = "traceloop.entity.input"
OUTPUT = "traceloop.entity.output"
_NAME = "traceloop.entity.name"
_PROPERTIES = "traceloop.association.properties."

KINDS: dict[str, Kind] = {
    "workflow": Kind.WORKFLOW,
    "agent": Kind.AGENT,
    "task": Kind.STEP,
    "tool": Kind.TOOL,
    "handoff": Kind.HANDOFF,
    "server": Kind.OTHER,  # an MCP server's span around the tool's
    "session": Kind.OTHER,  # an MCP client's
    "unknown": Kind.STEP,
}

TOOL_CLASSES = frozenset(
    {
        "DynamicStructuredTool",  # LangChain.js
        "DynamicTool",
        "StructuredTool",
        "Tool",
        "FunctionTool",  # LlamaIndex
        "AsyncBaseTool",
        "QueryEngineTool",
    }
)
"""Names of classes that stand where the tool's name should; the name itself is in the result, if anywhere."""

_ENVELOPE = frozenset({"inputs", "tags", "metadata", "kwargs"})
"""What LangChain's callback wraps an input in, beside its own arguments: a chain's name is one of them."""

_GRAPH = "LangGraph"

_SESSIONS = ("session_id", "thread_id", "conversation_id")
_CLASS_NAME = re.compile(r"[A-Z]\w*")
_ONE_WORD = re.compile(r"[A-Z][^\WA-Z_]*")
_ENDINGS = tuple(f".{kind}" for kind in KINDS)


def read(span: Span) -> Facts | None:
    """What the span says in ``traceloop.*``; None without a kind (the SDK stamps names and associations on every span)."""
    kind = kind_of(span)
    if kind is None:
        return None
    if kind is Kind.TOOL:
        return _tool(span)
    if kind in (Kind.AGENT, Kind.WORKFLOW, Kind.STEP):
        return _entity(span, kind)
    return Facts(kind=kind, agent=text(span.attributes.get("gen_ai.handoff.from_agent")))


def kind_of(span: Span) -> Kind | None:
    """By ``traceloop.span.kind``; an operation of GenAI says it more exactly where both are there."""
    attributes = span.attributes
    kind = KINDS.get(str(attributes.get(KIND)).lower())
    operation = attributes.get("gen_ai.operation.name")
    if kind is Kind.STEP and operation == "execute_tool":
        return Kind.TOOL  # LangChain.js
    if kind is Kind.WORKFLOW and operation == "invoke_agent":
        return Kind.AGENT  # LangChain's outermost chain
    if kind is Kind.STEP and _is_inner_agent(attributes):
        return Kind.AGENT
    if kind is None and "gen_ai.workflow.nodes" in attributes and operation == "invoke_agent":
        return Kind.WORKFLOW  # LangGraph's span around the chain, or beside it where the graph is an inner one
    return kind


def _is_inner_agent(attributes: Mapping[str, Any]) -> bool:
    """LangChain's chain of an agent that a tool or another agent called: it has the name that ``create_agent`` was given."""
    name = text(attributes.get(_PROPERTIES + "lc_agent_name"))
    return name is not None and attributes.get(_NAME) == name


def _entity(span: Span, kind: Kind) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    name = text(attributes.get(_NAME)) or _without_ending(span.name)
    own = text(attributes.get("gen_ai.agent.name")) if kind is not Kind.STEP else _entrypoint(name, attributes)
    taken = given = Payload()
    if (
        kind is not Kind.STEP or attributes.get("gen_ai.operation.name") != "execute_task"
    ):  # those repeat the whole state
        taken = _taken(content)
        given = _given(content, structured=kind is Kind.AGENT)
    return Facts(
        kind=kind,
        agent=""
        if own == _GRAPH and attributes.get("gen_ai.provider.name") == "langgraph"
        else own
        or text(attributes.get(_PROPERTIES + "lc_agent_name"))
        or (text(attributes.get(_NAME)) if kind is Kind.AGENT else None),
        weak_agent=name,
        session=None if kind is Kind.STEP else _session_in(content),
        input=taken.messages,
        asked=taken.text,
        output=given.messages,
        reply=given.text if given != Payload() else _contents(attributes),
        pseudo_tools=given.pseudo_tools,
        failure=failure_of(span) if kind is not Kind.STEP else None,
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=JS_SETTING if span.scope.name.startswith("@traceloop/") else SETTING,
    )


def _entrypoint(name: str | None, attributes: Mapping[str, Any]) -> str | None:
    node, triggers = (attributes.get(f"{_PROPERTIES}langgraph_{key}") for key in ("node", "triggers"))
    return entrypoint_in(name, text(node), triggers)


def _session_in(content: Content) -> str | None:
    """The conversation in LangChain's metadata, which stand beside the input; until 0.47 nowhere else."""
    raw = content.attributes.get(INPUT)
    if (
        not isinstance(raw, str)
        or '"metadata"' not in raw
        or any(key.startswith(_PROPERTIES) for key in content.attributes)
    ):
        return None
    value = decode_leniently(raw)
    metadata = value.get("metadata") if is_object(value) else None
    return first_text(metadata, _SESSIONS) if is_object(metadata) else None


def _without_ending(span_name: str) -> str | None:
    """``name.agent`` without its ending; None for a span's name that is not made so."""
    for ending in _ENDINGS:
        if span_name.endswith(ending):
            return span_name.removesuffix(ending) or None
    return None


def _taken(content: Content) -> Payload:
    value = _value(content, "input", INPUT)
    if value is MISSING:
        return Payload()
    if is_object(value) and set(value) >= _ENVELOPE:
        return input_of(value["inputs"])
    value = _without_ids(value, content.attributes)
    return Payload() if _is_either(value) else input_payload(_without_self(value))


def _given(content: Content, *, structured: bool) -> Payload:
    raw = content.attributes.get(OUTPUT)
    value = _value(content, "output", OUTPUT)
    if value is MISSING:
        return Payload()
    if is_object(value) and "outputs" in value and set(value) <= {"outputs", "kwargs"}:  # LangChain
        return output_payload(value["outputs"], structured=False)
    return output_payload(raw if structured else value, structured=structured)


def _value(content: Content, field: str, key: str) -> Any:
    """The attribute decoded; a text that is no JSON as it stands; MISSING where it is hidden, cut or not there."""
    raw = content.attributes.get(key)
    if raw is None or says_nothing(raw) or content.hidden(field, raw):
        return MISSING
    if isinstance(raw, str) and raw.lstrip()[:1] not in ("{", "[", '"'):
        return raw
    try:
        value = decode(raw)
    except Undecodable:
        value = MISSING
    if value is MISSING or _is_cut(raw, value):
        content.mark(field, GapKind.TRUNCATED)
        return MISSING
    return value


def _is_cut(raw: Any, value: Any) -> bool:
    """Whether a JSON string ends before its closing quote."""
    return isinstance(raw, str) and raw[:1] == '"' and value is raw and (len(raw) == 1 or raw[-1:] != '"')


def _contents(attributes: Mapping[str, Any]) -> str | None:
    """The texts of a turn of the OpenAI Agents SDK until 0.45, where each turn is an agent's span and holds its own
    answer."""
    contents = attributes.get("gen_ai.completion.contents")
    texts = [item for item in contents if isinstance(item, str)] if isinstance(contents, list | tuple) else []
    return "\n".join(texts) if texts else None


def _is_call(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return is_object(value) and set(value) <= {"args", "kwargs"} and isinstance(value.get("args"), list)


def _without_ids(value: Any, attributes: Mapping[str, Any]) -> Any:
    """A decorated function's arguments without those that the program told of the span as well: its session, its user."""
    if not _is_call(value):
        return value
    ids = [told for key, told in attributes.items() if key.startswith(_PROPERTIES) or key == "gen_ai.conversation.id"]
    return {**value, "args": [item for item in value["args"] if item not in ids]}


def _is_either(value: Any) -> bool:
    """Whether two words were passed, of which the first may be a class (``["Agent", "Hello"]``) or what was asked
    (``["Yes", "en"]``)."""
    if not _is_call(value) or value.get("kwargs") or len(value["args"]) != 2:
        return False
    first, second = value["args"]
    return (
        isinstance(first, str)
        and isinstance(second, str)
        and " " not in second
        and _ONE_WORD.fullmatch(first) is not None
    )


def _without_self(value: Any) -> Any:
    """A decorated method's arguments without the object that it was called on, which stands there as its class's name."""
    if not _is_call(value):
        return value
    args = value["args"]
    told = len(args) > 1 or bool(value.get("kwargs"))
    if args and told and isinstance(args[0], str) and _CLASS_NAME.fullmatch(args[0]):
        return {**value, "args": args[1:]}
    return value


def _tool(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    arguments = _arguments(content)
    outcome, result = _outcome(content, is_mcp=_is_mcp(decode_leniently(attributes.get(INPUT))))
    error = tool_error_of(span) or outcome.error
    name = text(attributes.get("gen_ai.tool.name"))
    entity = text(attributes.get(_NAME)) or _tool_in(span.name)
    if name is None or name in TOOL_CLASSES:
        name = outcome.name or (entity if entity not in TOOL_CLASSES else None)
    control_flow = is_control_flow(span)
    javascript = span.scope.name.startswith("@traceloop/")
    return Facts(
        kind=Kind.TOOL,
        tool=name,
        arguments=arguments,
        result=result,
        error=None if control_flow else error,
        call_id=first_text(attributes, ("gen_ai.tool.call.id",)) or outcome.call_id,
        control_flow=control_flow,
        # Its ``withTool`` ends the span once the function has returned, and only then (node-server-sdk 0.27, decorators.ts).
        failures_unseen=javascript,
        marks=content.marks,
        setting=JS_SETTING if javascript else SETTING,
    )


def _tool_in(span_name: str) -> str | None:
    return _without_ending(span_name) or (span_name.removeprefix("execute_tool ") or None)


def _arguments(content: Content) -> JsonValue | Missing:
    """The same in both attributes, where both are there; GenAI's alone of the OpenAI Agents SDK's instrumentation."""
    key = INPUT if content.attributes.get(INPUT) is not None else "gen_ai.tool.call.arguments"
    raw = content.attributes.get(key)
    if raw is None or content.hidden("arguments", raw):
        return MISSING
    try:
        value = decode(raw)
    except Undecodable:
        content.mark("arguments", GapKind.TRUNCATED)
        return str(raw)
    if _is_mcp(value):
        return tool_arguments(value.get("arguments") or {})
    return tool_arguments(_without_self(value))


def _outcome(content: Content, *, is_mcp: bool) -> tuple[ToolOutcome, JsonValue | Missing]:
    key = OUTPUT if content.attributes.get(OUTPUT) is not None else "gen_ai.tool.call.result"
    raw = content.attributes.get(key)
    if raw is None or content.hidden("result", raw):
        return ToolOutcome(), MISSING
    try:
        decode(raw)
    except Undecodable:
        if not is_content_whole(str(raw)):
            content.mark("result", GapKind.TRUNCATED)
    value = decode_leniently(raw) if isinstance(raw, str) and raw[:1] == '"' else containers(raw)
    if _is_cut(raw, value):
        content.mark("result", GapKind.TRUNCATED)
        return ToolOutcome(result=raw[1:]), raw[1:]
    if is_object(value) and is_mcp and "result" in value and set(value) <= {"result", "is_error"}:
        failed = value.get("is_error") is True
        value = {"is_error": True, "text": value["result"]} if failed else value["result"]
    outcome = tool_outcome(value)
    return outcome, outcome.result


def _is_mcp(taken: Any) -> bool:
    """Whether the input is an MCP client's or server's; the client's output is then ``{"result", "is_error"}``."""
    return is_object(taken) and "tool_name" in taken and set(taken) <= {"tool_name", "arguments"}


CONVENTION = Convention(name="openllmetry", read=read, prefixes=("traceloop.", "gen_ai.workflow.nodes"))
