"""CrewAI under OpenLLMetry: three nested spans that all say ``invoke_agent``, of the crew, of each task, of each agent.

Source: opentelemetry-instrumentation-crewai 0.40 to 0.62. Only ``traceloop.span.kind`` tells them apart, and the crew's has
none. What was asked is the description of the first task (CrewAI has no user message). Tools have no spans: since CrewAI
1.x the repr of the tasks' outputs holds the messages. Nothing turns this content off; TRACELOOP_TRACE_CONTENT is not read.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.openllmetry import KIND, OUTPUT, SETTING
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.reprs import CutRepr, objects_in
from otel_eval.conventions.reading.values import containers, decode_leniently, text
from otel_eval.interaction import GapKind, Message
from otel_eval.signals import Span

_SCOPE = "opentelemetry.instrumentation.crewai"
_CREW = "crewai.workflow"


def read(span: Span) -> Facts | None:
    """Which of CrewAI's spans it is, and its content; model calls are for GenAI's convention."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    kind = span.attributes.get(KIND)
    if kind == "agent":
        return _agent(span)
    if kind == "task":
        return _task(span)
    return _crew(span) if span.name == _CREW or "crewai.crew.id" in span.attributes else None


def _crew(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    asked, given, messages = _told(content)
    return Facts(
        kind=Kind.WORKFLOW,
        weak_agent=text(attributes.get("crewai.crew.name")),
        input=given or None,
        asked=asked,
        output=messages or None,
        reply=text(attributes.get("crewai.crew.result")),
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _told(content: Content) -> tuple[str | None, tuple[Message, ...], tuple[Message, ...]]:
    """The first task's description, the messages that went in, and what all tasks' agents and tools said, in order."""
    raw = content.attributes.get("crewai.crew.tasks_output")
    try:
        tasks = objects_in(raw, "TaskOutput") if isinstance(raw, str) else []
    except CutRepr:
        content.mark("output", GapKind.TRUNCATED)
        return None, (), ()
    given: tuple[Message, ...] = ()
    said: list[Message] = []
    for task in tasks:
        messages = read_messages(containers(task.get("messages", "[]")))
        given = given or tuple(message for message in messages if message.role in ("system", "user"))
        said += [message for message in messages if message.role not in ("system", "user")]
    asked = decode_leniently("[" + tasks[0].get("description", "") + "]") if tasks else None
    return text(asked[0]) if isinstance(asked, list) and asked else None, given, tuple(said)


def _task(span: Span) -> Facts:
    attributes = span.attributes
    return Facts(
        kind=Kind.WORKFLOW,
        asked=text(attributes.get("crewai.task.description")) or text(span.name.removesuffix(".task")),
        reply=text(attributes.get(OUTPUT)),
        failure=failure_of(span),
        marks=Content.of(span).marks,
        setting=SETTING,
    )


def _agent(span: Span) -> Facts:
    attributes = span.attributes
    return Facts(
        kind=Kind.AGENT,
        agent=text(attributes.get("gen_ai.agent.name")) or text(attributes.get("crewai.agent.role")),
        weak_agent=text(span.name.removesuffix(".agent")),
        failure=failure_of(span),
        marks=Content.of(span).marks,
        setting=SETTING,
    )


CONVENTION = Convention(name="openllmetry-crewai", read=read, scopes=(_SCOPE,))
