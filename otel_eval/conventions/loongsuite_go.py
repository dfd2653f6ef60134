"""Alibaba's LoongSuite for Go, which builds its hooks into a program: LangChainGo, Eino, ADK, Agent Framework, Crush, OpenAI.

Kinds are as in ``span_kinds.py``, in lower case, or not told. What a component took and gave stands under a key for each
value: ``gen_ai.other_input.*`` and ``.other_output.*``, of Eino ``gen_ai.input.*`` and ``.output.*``; a model's
messages in GenAI's names, of Eino the answer's text alone. Content is always on.
Source: loongsuite-go (``pkg/rules/{adk-go,crush,eino,langchain,ms-agent-framework-go,openai-go}``), 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.payloads import Payload, input_of, output_of
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.conventions.reading.values import decode_leniently, first_text, plain, text
from otel_eval.interaction import JsonValue
from otel_eval.signals import Span

SCOPE = "pkg/rules/"

KINDS: dict[str, Kind] = {
    "workflow": Kind.WORKFLOW,
    "agent": Kind.AGENT,
    "task": Kind.STEP,
    "tool": Kind.TOOL,
    "generation": Kind.MODEL,
}
OPERATIONS: dict[str, Kind] = {
    "tool_node": Kind.STEP,  # Eino's node around the tools, whose kind is theirs
    **dict.fromkeys(
        ("prompt", "indexer", "retriever", "loader", "transform", "embeddings", "create_agent"), Kind.OTHER
    ),
}
"""Those of which the kind tells too much; of all others it decides, else the operation as GenAI has it."""
_BY_OPERATION: dict[str, Kind] = {
    "invoke_agent": Kind.AGENT,
    "execute_tool": Kind.TOOL,
    "chat": Kind.MODEL,
    **dict.fromkeys(("graph", "chain", "lambda"), Kind.STEP),
}

_INPUTS = ("gen_ai.other_input.", "gen_ai.input.")
_OUTPUTS = ("gen_ai.other_output.", "gen_ai.output.")
_MESSAGES = "messages"
_USER_MESSAGE = "user_message"


def read(span: Span) -> Facts | None:
    """What the hooks say beyond the semantic conventions; None for those of databases, queues and servers."""
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if operation is None or not span.scope.name.startswith(SCOPE):
        return None
    kind = OPERATIONS.get(str(operation)) or KINDS.get(str(attributes.get("gen_ai.span.kind")))
    kind = kind or _BY_OPERATION.get(str(operation))
    if kind is None or kind is Kind.MODEL:
        return None if kind is None else Facts(kind=kind, failure=failure_of(span))
    if kind in (Kind.OTHER, Kind.STEP):
        return Facts(kind=kind)
    content = Content.of(span)
    taken, given = _values(content, "input", _INPUTS), _values(content, "output", _OUTPUTS)
    if kind is Kind.TOOL:
        return _tool(span, content, taken, given)
    asked = text(taken.get(_USER_MESSAGE))
    payload = Payload(text=asked) if asked is not None else input_of(taken)
    answered = output_of(given, structured=False)
    return Facts(
        kind=kind,
        agent=first_text(attributes, ("gen_ai.agent.name",)),
        weak_agent=first_text(taken, ("name",)),
        session=first_text(taken, ("session_id",)),
        user_id=first_text(taken, ("user_id",)),
        input=payload.messages,
        asked=payload.text,
        output=answered.messages,
        reply=answered.text,
        failure=failure_of(span),
        marks=content.marks,
    )


def _values(content: Content, field: str, prefixes: tuple[str, ...]) -> dict[str, Any]:
    """What stands under the keys, by the rest of their names; what is hidden is marked."""
    found: dict[str, Any] = {}
    for key, value in content.attributes.items():
        prefix = next((each for each in prefixes if key.startswith(each)), None)
        if prefix is None or key[len(prefix) :] == _MESSAGES:
            continue
        if is_placeholder(value):
            content.hidden(field, value)
        else:
            found.setdefault(key[len(prefix) :], value)
    return found


def _tool(span: Span, content: Content, taken: Mapping[str, Any], given: Mapping[str, Any]) -> Facts:
    attributes = span.attributes
    arguments = _first(taken.get("arguments"), attributes.get("gen_ai.tool.input"))
    response = _first(given.get("response"), attributes.get("gen_ai.tool.output"))
    result: JsonValue | Missing = MISSING if response is None else result_value(response)
    return Facts(
        kind=Kind.TOOL,
        tool=text(attributes.get("gen_ai.tool.name")) or first_text(taken, ("tool_name", "tool")),
        arguments=MISSING if arguments is None else plain(decode_leniently(arguments)),
        result=result,
        error=tool_error_of(span) or (None if result is MISSING else error_in_result(result)),
        call_id=text(attributes.get("gen_ai.tool.call.id")) or first_text(taken, ("tool-id",)),
        marks=content.marks,
    )


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None and not is_placeholder(value)), None)


CONVENTION = Convention(name="loongsuite-go", read=read, scopes=(SCOPE,))
