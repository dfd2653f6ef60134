"""CrewAI's own tracing: ``execute flow``, ``execute crew``, ``execute task``, ``execute agent``, ``call llm``, ``call tool``.

Source: crewai 1.15.30, ``crewai.telemetry.tracing``. Messages, tools and models are read as GenAI; here is what deviates: an
agent's name is its role (``gen_ai.agent.name`` is a hash), what was asked is the task's description (the crew's input is its
inputs as JSON, the agent's is a prompt around the description), and ``gen_ai.conversation.id`` of model calls falls back to
ids of tasks and agents. Content is always on; values over ``CREWAI_OTEL_MAX_ATTR_BYTES`` are cut and say so.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind, Mark
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.payloads import input_payload
from otel_eval.conventions.reading.values import text
from otel_eval.interaction import GapKind
from otel_eval.signals import Span

SETTING = "CREWAI_TRACING_ENABLED=true"
_EXPECTED = "\n\nThis is the expected criteria for your final answer:"
"""With this CrewAI goes on after the description, in the prompt of an agent."""

_AGENTS = ("execute agent", "execute lite agent")
_OWN_IDS = ("crewai.task.id", "gen_ai.agent.id")
_MAY_BE_CUT = {
    "input": ("gen_ai.input.messages",),
    "output": ("gen_ai.output.messages",),
    "arguments": ("gen_ai.tool.call.arguments",),
    "result": ("gen_ai.tool.call.result",),
    "system": ("gen_ai.system_instructions",),
}


def read(span: Span) -> Facts | None:
    """What CrewAI says beyond GenAI's convention; None for spans that it writes for nothing of an agent's."""
    attributes = span.attributes
    event = text(attributes.get("crewai.event_name"))
    if event is None:
        return None
    if span.name == "tool failure":
        return Facts(kind=Kind.OTHER)  # says again that the tool's own span failed
    if span.name in _AGENTS:
        return _agent(span)
    if span.name == "execute crew":
        return Facts(kind=Kind.WORKFLOW, input=(), failure=failure_of(span), marks=_marks(span), setting=SETTING)
    if span.name == "execute task":
        asked = text(attributes.get("crewai.task.description"))
        reply = text(attributes.get("crewai.task.output"))
        return Facts(kind=Kind.WORKFLOW, asked=asked, reply=reply, marks=_marks(span), setting=SETTING)
    if span.name == "execute flow":
        taken = input_payload(attributes.get("crewai.flow.inputs"))
        reply = text(attributes.get("crewai.flow.result"))
        return Facts(kind=Kind.WORKFLOW, input=taken.messages or (), asked=taken.text, reply=reply, setting=SETTING)
    if span.name == "call llm":
        return Facts(
            kind=Kind.MODEL,
            agent=text(attributes.get("crewai.agent.role")),
            session="",  # a real one is on the spans around it, too
            marks=_marks(span),
            setting=SETTING,
        )
    operation = attributes.get("gen_ai.operation.name")
    kind = Kind.TOOL if operation == "execute_tool" else Kind.STEP
    return Facts(kind=kind, marks=_marks(span), setting=SETTING)


def _agent(span: Span) -> Facts:
    attributes = span.attributes
    messages = Content(attributes).messages("input", "gen_ai.input.messages") or ()
    prompt = next((message.text for message in reversed(messages) if message.role == "user" and message.text), None)
    session = text(attributes.get("gen_ai.conversation.id"))
    fallback = span.name == "execute lite agent" and any(attributes.get(key) == session for key in _OWN_IDS)
    return Facts(
        kind=Kind.AGENT,
        agent=text(attributes.get("crewai.agent.role")),
        session="" if fallback else session,
        asked=None if prompt is None else prompt.partition(_EXPECTED)[0].strip(),
        failure=failure_of(span),
        marks=_marks(span),
        setting=SETTING,
    )


def _marks(span: Span) -> tuple[Mark, ...]:
    """``<attribute>.truncated`` stands beside a value that was cut."""
    return tuple(
        Mark(field=field, kind=GapKind.TRUNCATED)
        for field, keys in _MAY_BE_CUT.items()
        if any(span.attributes.get(f"{key}.truncated") is True for key in keys)
    )


CONVENTION = Convention(name="crewai", read=read, prefixes=("crewai.event_name",))
