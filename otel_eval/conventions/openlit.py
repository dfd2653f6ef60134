"""OpenLIT beyond the semantic conventions: tool calls on the model's span, workflows' inputs, MCP, and its old agents' spans.

Source: openlit 1.33.0 and 1.45.0 (``semcov/__init__.py`` and the instrumentations). 1.33 wrote messages as one text in span
events (``events.py``, form G1), ``gen_ai.operation.name`` ``agent`` or ``framework``; 1.45 writes ``gen_ai.input.messages``.
Content is on by default; names, ids and arguments of the tools that a model asked for are written in any case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.events import transcript
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.genai import TOOL_CLASSES
from otel_eval.conventions.haystack import chat
from otel_eval.conventions.openinference_haystack import spelled_out
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.payloads import input_payload, output_payload
from otel_eval.conventions.reading.reprs import value_in
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text, unflatten
from otel_eval.interaction import GapKind, JsonValue, Message, Part, ToolCallPart
from otel_eval.signals import Span

SETTING = "openlit.init(capture_message_content=True)"
OLD_SETTING = "openlit.init(trace_content=True)"
ELLIPSIS = "..."
"""Ends what ``max_content_length`` cut."""

_TOOL_MESSAGE = re.compile(
    r"""content=(?P<content>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?P<rest> (?:\w+=.*)?tool_call_id='.*)""", re.S
)
"""``str()`` of LangChain's ToolMessage."""

_COMMAND_MESSAGE = re.compile(r"""ToolMessage\(content=(?P<content>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"), """)
"""The tool's message in the ``repr`` of LangGraph's Command."""

_GRAPH = "openlit.instrumentation.langgraph"
_HOOKS = (".before_agent", ".after_agent")
"""The nodes of a middleware, in LangChain 1."""
_CALLS = ("agent", "call_agent")
"""What calls a model or an agent in LangGraph's prebuilt graphs and in its supervisor."""

_HAYSTACK = "openlit.instrumentation.haystack"  # a pipeline's answer is a message in Python's words
_AGNO = "openlit.instrumentation.agno"
_FIELDS = re.compile(r"[a-z_]\w*=(?:['\"\d\[{(-]|None\b|True\b|False\b|[A-Z]\w*\().*", re.S)
"""``str()`` of a pydantic object, which Agno gives back where one was asked for: the model's answer has it in JSON."""

_MODEL = ("chat", "text_completion", "generate_content", "model_request")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "gen_ai.tool.args", "gen_ai.tool.input", "mcp.tool.arguments")
_RESULTS = ("gen_ai.tool.call.result", "gen_ai.tool.output", "gen_ai.tool.result", "mcp.tool.result", "mcp.result")


def read(span: Span) -> Facts | None:
    """What OpenLIT says in attributes of its own; None for spans that are not its."""
    attributes = span.attributes
    if attributes.get("telemetry.sdk.name") != "openlit" and not span.scope.name.startswith("openlit"):
        return None
    operation = attributes.get("gen_ai.operation.name")
    if operation is None and "mcp.method" in attributes:
        return _mcp(span)
    if operation is None and attributes.get("error.type") is not None:
        operation = span.name.partition(" ")[0]  # left out where what it stands for raised
    if operation == "execute_tool":
        return _tool(span)
    if operation == "agent":
        return _old_agent(span)
    if operation in ("invoke_agent", "invoke_workflow", "framework", "execute_task"):
        return _frame(span, str(operation))
    if operation in _MODEL:
        return Facts(
            kind=Kind.MODEL,
            input=transcript(attributes.get("gen_ai.prompt")),
            output=None if _answered(attributes) else asked_tools(attributes),
        )
    return None


def _answered(attributes: Mapping[str, Any]) -> bool:
    return attributes.get("gen_ai.output.messages") not in (None, "", "[]")


def asked_tools(attributes: Mapping[str, Any]) -> tuple[Message, ...] | None:
    """The tools that the model asked for, ``a, b`` in three attributes; None where there are none or they do not fit."""
    written = _requested(attributes.get("gen_ai.response.tool_calls"))
    if written:
        return read_messages([{"role": "assistant", "tool_calls": written}], "assistant") or None
    names, ids = _listed(attributes.get("gen_ai.tool.name")), _listed(attributes.get("gen_ai.tool.call.id"))
    raw = first_text(attributes, ("gen_ai.tool.args", "gen_ai.tool.call.arguments"))
    arguments = _objects(raw) if raw is not None else []
    if not names or (ids and len(ids) != len(names)):
        return None
    if not ids and raw is None and attributes.get("openai.api.type") == "responses":
        return None  # the names of all tools that there were (JavaScript 1.15)
    known = len(arguments) == len(names)
    parts: tuple[Part, ...] = tuple(
        ToolCallPart(name=name, arguments=arguments[index] if known else None, call_id=ids[index] if ids else None)
        for index, name in enumerate(names)
    )
    return (Message(role="assistant", parts=parts),)


def _requested(raw: Any) -> list[Any]:
    """1.33: OpenAI's objects, as Python writes them."""
    found = value_in(raw) if isinstance(raw, str) and raw[:1] == "[" else None
    return found if isinstance(found, list) else []


def _listed(raw: Any) -> list[str]:
    return [item for item in raw.split(", ") if item] if isinstance(raw, str) else []


def _objects(raw: str) -> list[JsonValue]:
    """JSON values joined by commas; none where one of them is cut."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(raw):
        try:
            value, at = decoder.raw_decode(raw, at)
        except ValueError:
            return []
        found.append(value)
        while at < len(raw) and raw[at] in ", \n":
            at += 1
    return found


def _frame(span: Span, operation: str) -> Facts:
    """An agent, a workflow, or a graph's node with ``gen_ai.tool_call.<n>.*`` for what its model asked."""
    attributes, content = span.attributes, Content.of(span)
    kind = {"invoke_agent": Kind.AGENT, "execute_task": Kind.STEP}.get(operation, Kind.WORKFLOW)
    agent = _named(span) if "gen_ai.operation.name" not in attributes else None
    if kind is Kind.AGENT and _is_node(span):
        kind, agent = Kind.STEP, ""
    elif kind is Kind.WORKFLOW and "gen_ai.agno.team.agents" in attributes:
        kind, agent = Kind.AGENT, text(attributes.get("gen_ai.workflow.name"))  # a team, which has a model of its own
    elif kind is Kind.WORKFLOW and span.scope.name == _GRAPH:
        if attributes.get("gen_ai.request.stream") is True:
            return Facts(
                kind=Kind.OTHER
            )  # its output is all that was streamed, of all nodes; the LangChain span within tells
        kind = Kind.AGENT  # of no name: where a graph is awaited, its model calls have no spans
    given = _payload(content, "input", "gen_ai.workflow.input")
    gave = _payload(content, "output", "gen_ai.workflow.output")
    taken = input_payload(given) if given is not None else None
    made = output_payload(gave, structured=False) if gave is not None else None
    calls = unflatten(attributes, "gen_ai.tool_call.")
    output = made.messages if made is not None else None
    if output is None and calls and not _answered(attributes):
        output = read_messages([{"role": "assistant", "tool_calls": calls}], "assistant") or None
    if span.scope.name == _HAYSTACK and output is None:
        output = chat([spelled_out(attributes.get("gen_ai.output.messages"))], "assistant")
    if span.scope.name == _AGNO and _is_object(attributes.get("gen_ai.output.messages")):
        output = ()
        content.mark("output", GapKind.NOT_CAPTURED)
    return Facts(
        kind=kind,
        agent=agent,
        weak_agent=_component(span) or text(attributes.get("gen_ai.workflow.name")) if kind is not Kind.STEP else None,
        input=taken.messages if taken is not None else None,
        asked=taken.text if taken is not None else None,
        output=output,
        reply=(made.text if made is not None and kind is not Kind.STEP else None)
        or first_text(attributes, ("gen_ai.agent.final_result", "gen_ai.agent.actual_output")),
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _component(span: Span) -> str | None:
    """Of Haystack's pipelines, all of which OpenLIT names ``pipeline``, the only component that is given messages."""
    if span.scope.name != _HAYSTACK:
        return None
    given = decode_leniently(span.attributes.get("gen_ai.framework.pipeline.input_data"))
    names = [name for name, data in given.items() if is_object(data) and "messages" in data] if is_object(given) else []
    return text(names[0]) if len(names) == 1 else None


def _is_object(raw: Any) -> bool:
    said = [message.text or "" for message in read_messages(decode_leniently(raw), "assistant")]
    return len(said) == 1 and _FIELDS.fullmatch(said[0]) is not None


def _named(span: Span) -> str | None:
    """The agent in the span's name, where no attribute has it."""
    operation, _, name = span.name.partition(" ")
    return text(span.attributes.get("gen_ai.agent.name")) or (name if operation == "invoke_agent" else None)


def _is_node(span: Span) -> bool:
    """Whether it is a node of a graph that is no agent: all but those of tools are written as agents.

    The node that calls the model is named ``agent`` in LangGraph's prebuilt agents and in most graphs made by hand. Under
    LangChain every chain with ``agent`` in its name is one; of those, what chooses the next node gives back its name.
    """
    name = (text(span.attributes.get("gen_ai.agent.name")) or "").lower()
    if not name and span.scope.name == "openlit.instrumentation.crewai":
        return "gen_ai.operation.name" in span.attributes  # a method of a flow, of the executor's, too
    if name in _CALLS or name.endswith(_HOOKS):
        return "langgraph" in span.scope.name or "langchain" in span.scope.name
    if span.scope.name in (_GRAPH, "@openlit/instrumentation-langgraph"):
        return "agent" not in name
    output = span.attributes.get("gen_ai.workflow.output")
    return span.scope.name == "openlit.instrumentation.langchain" and isinstance(output, str) and output[:1] == '"'


def _payload(content: Content, field: str, key: str) -> Any:
    """The decoded attribute; None where it is not there, hidden or cut."""
    value = content.value(field, key)
    if isinstance(value, str) and value.endswith(ELLIPSIS) and value[:1] in ("{", "["):
        content.mark(field, GapKind.TRUNCATED)
        return None
    return None if value is MISSING else value


def _old_agent(span: Span) -> Facts:
    """1.33: CrewAI's agents and tasks, and browsing agents."""
    attributes = span.attributes
    role = first_text(attributes, ("gen_ai.agent.name", "gen_ai.agent.role"))
    if role is None:
        return Facts(
            kind=Kind.STEP,
            prompt=text(attributes.get("gen_ai.agent.task")),
            reply=text(attributes.get("gen_ai.agent.actual_output")),
            failure=failure_of(span),
            setting=OLD_SETTING,
        )
    return Facts(kind=Kind.AGENT, agent=role.strip(), failure=failure_of(span), setting=OLD_SETTING)


def _tool(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    arguments = content.json("arguments", *_ARGUMENTS)
    result = content.result("result", *_RESULTS)
    error = tool_error_of(span) or first_text(attributes, ("gen_ai.tool.error",))
    if isinstance(result, str):
        result, failed = _said(result, content)
        error = error or failed
    if isinstance(arguments, str) and _is_cut(arguments):
        content.mark("arguments", GapKind.TRUNCATED)
    name = text(attributes.get("gen_ai.tool.name"))
    return Facts(
        kind=Kind.TOOL,
        tool=None if name in TOOL_CLASSES else name,
        arguments=arguments,
        result=result,
        error=error,
        call_id=text(attributes.get("gen_ai.tool.call.id")),
        marks=content.marks,
        setting=SETTING,
    )


def _is_cut(value: str) -> bool:
    return value[:1] in ("{", "[") and value.endswith(ELLIPSIS)


def _said(result: str, content: Content) -> tuple[JsonValue | Missing, str | None]:
    """Result and error, out of the text of a LangChain tool message where it is one."""
    message = _TOOL_MESSAGE.fullmatch(result)
    said = None if message is None else value_in(message["content"])
    if message is not None and said is not None:
        value = result_value(said)
        failed = "status='error'" in message["rest"]
        return (MISSING, str(value)) if failed else (value, error_in_result(value))
    if result.startswith("Command(") and (found := _COMMAND_MESSAGE.findall(result)):
        value = result_value(value_in(found[-1]))
        return value, error_in_result(value)
    if _is_cut(result) or (result.startswith("content='") and result.endswith(ELLIPSIS)):
        content.mark("result", GapKind.TRUNCATED)
    return result, error_in_result(result)


def _mcp(span: Span) -> Facts:
    """``mcp tools/call``: one of the spans around one call, of the client or of the server."""
    attributes, content = span.attributes, Content.of(span)
    name = text(attributes.get("mcp.tool.name"))
    if name is None or "call" not in str(attributes.get("mcp.method")):
        return Facts(kind=Kind.OTHER)
    result: JsonValue | Missing = content.result("result", "mcp.tool.result", "mcp.result")
    return Facts(
        kind=Kind.TOOL,
        tool=name,
        arguments=content.json("arguments", "mcp.tool.arguments"),
        result=result,
        error=tool_error_of(span) or text(attributes.get("mcp.error.message")),
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(
    name="openlit",
    read=read,
    prefixes=("gen_ai.", "mcp.method", "mcp.operation"),
    scopes=("openlit",),
    needs=("telemetry.sdk.name",),
)
