"""VeADK, Volcengine's on top of Google's ADK: ADK's spans, for which it writes its own attributes and events.

``invocation`` > ``invoke_agent x`` (``agent_run [x]`` before ADK 1.20) > ``call_llm``, ``execute_tool x``. What an
agent was asked and gave is Gemini's content in ``gen_ai.input`` and ``gen_ai.output``; a call's messages are events and
its answer's parts ``gen_ai.completion.N``; a tool's are ``gen_ai.tool.input`` (``parameters``) and
``gen_ai.tool.output`` (``response``), with ADK's ``result`` around what is no object. An invocation has the name of
the agent that was last. On by default.
Source: veadk-python 1.1.19 with google-adk 2.7.1 as recorded, 0.2 from source; veadk-go (``observability``) writes alike.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.events import NOTHING, facts_of_events
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.google_adk import HANDOFFS, own
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import first_text, is_object, plain, text
from otel_eval.interaction import JsonValue, Message
from otel_eval.signals import Span

SCOPE = "veadk"
SETTING = "OBSERVABILITY_OPENTELEMETRY_TRACE_CONTENT=true"
_SOURCE = "cozeloop.report.source"


def read(span: Span) -> Facts | None:
    """What VeADK says in its own attributes."""
    if span.attributes.get(_SOURCE) != "veadk" and span.scope.name != SCOPE:
        return None
    name, _, rest = span.name.partition(" ")
    if span.attributes.get("gen_ai.tool.name") == "(merged tools)":
        return Facts(kind=Kind.OTHER)  # around tools that ran side by side
    match name:
        case "invocation":
            return _agent(span, Kind.WORKFLOW, None)
        case "invoke_agent" | "agent_run":
            return _agent(span, Kind.AGENT, rest.strip("[]"))
        case "call_llm":
            return _call(span)
        case "execute_tool" if "gen_ai.tool.name" in span.attributes:
            return _tool(span)
        case _:
            return None


def _known(value: object) -> str | None:
    """A text that is not one of the ``<unknown_…>`` and ``<no_…>`` that stand for what VeADK does not know."""
    told = text(value)
    return None if told is None or (told.startswith(("<un", "<no_")) and told.endswith(">")) else told


def _session(span: Span) -> str | None:
    """The session, empty where a placeholder stands for it."""
    told = first_text(span.attributes, ("gen_ai.session.id", "session.id"))
    return None if told is None else _known(told) or ""


def _agent(span: Span, kind: Kind, name: str | None) -> Facts:
    content = Content.of(span)
    return Facts(
        kind=kind,
        agent=text(name),
        session=_session(span),
        input=_said(content, "input", "gen_ai.input", "input.value"),
        output=_said(content, "output", "gen_ai.output", "output.value"),
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
        pseudo_tools=HANDOFFS,
    )


def _said(content: Content, field: str, *keys: str) -> tuple[Message, ...] | None:
    value = content.value(field, *keys)
    told = value.get("messages", [value]) if is_object(value) else None
    return read_messages(told, "user" if field == "input" else "assistant") or None if isinstance(told, list) else None


def _call(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    told = facts_of_events(span.events)
    system = None if told is None or told.system == NOTHING else told.system
    return Facts(
        kind=Kind.MODEL,
        session=_session(span),
        input=None if told is None else own(told.input),
        output=_answer(content),
        system=system,
        model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model")),
        finish_reasons=tuple(filter(None, [_known(attributes.get("gen_ai.response.finish_reason"))])),
        usage=usage_of(attributes),
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
        pseudo_tools=HANDOFFS,
    )


def _answer(content: Content) -> tuple[Message, ...] | None:
    """One message, of which ``gen_ai.completion.N`` are the parts."""
    pieces = content.numbered("output", "gen_ai.completion.", "assistant")
    if pieces is None:
        return None
    return (Message(role="assistant", parts=tuple(part for piece in pieces for part in piece.parts)),)


def _tool(span: Span) -> Facts:
    content = Content.of(span)
    taken, given = (_inside(content, *each) for each in _VALUES)
    name = _known(span.attributes.get("gen_ai.tool.name"))
    result: JsonValue | Missing = MISSING if given is MISSING else result_value(given)
    error = tool_error_of(span)
    if error is None and result is not MISSING:
        error = error_in_result(result)
    return Facts(
        kind=Kind.HANDOFF if name in HANDOFFS else Kind.TOOL,
        tool=name,
        arguments=MISSING if taken is MISSING else plain(taken),
        result=result,
        error=error,
        call_id=_call_id(content),
        session=_session(span),
        marks=content.marks,
        setting=SETTING,
        pseudo_tools=HANDOFFS if name in HANDOFFS else (),
    )


_VALUES = (
    ("arguments", "parameters", "gen_ai.tool.input", "cozeloop.input"),
    ("result", "response", "gen_ai.tool.output", "cozeloop.output"),
)


def _inside(content: Content, field: str, inner: str, *keys: str) -> Any:
    value = content.value(field, *keys)
    return value.get(inner, MISSING) if is_object(value) else MISSING


def _call_id(content: Content) -> str | None:
    given = content.value("result", "gen_ai.tool.output", "cozeloop.output")
    return text(given.get("id")) if is_object(given) else None


CONVENTION = Convention(name="veadk", read=read, prefixes=(_SOURCE,), scopes=(SCOPE,))
