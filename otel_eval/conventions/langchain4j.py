"""LangChain4j under Quarkus: ``langchain4j.aiservices.Interface.method``, ``langchain4j.tools.name`` and ``completion
model``.

An AI service's method is the agent. With agents of LangChain4j's agentic module, since 2026, ``langchain4j.agent.name`` stands
around it, and around those of all the agents that it runs. Tools have the standard's attributes, in early versions their name alone; what they
raise is an exception event without a status. With the prompt included, the texts of all messages stand in one attribute,
joined by line breaks without their roles, so what was asked is only known in that wrapping.
Source: quarkus-langchain4j, ``ToolSpanWrapper``, ``SpanChatModelListener``, ``PromptTextSpanContributor``
(2024 to 2026, last 1.10.0); ``AgentSpanListener`` of its main branch.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, is_control_flow
from otel_eval.conventions.reading.values import text
from otel_eval.interaction import Message, TextPart
from otel_eval.signals import Span

SETTING = "quarkus.langchain4j.tracing.include-prompt=true quarkus.langchain4j.tracing.include-completion=true"
TOOL_SETTING = (
    "quarkus.langchain4j.tracing.include-tool-arguments=true quarkus.langchain4j.tracing.include-tool-result=true"
)

_AGENT = "langchain4j.agent."
_SERVICE, _TOOL = "langchain4j.aiservices.", "langchain4j.tools."
_SCOPE = "io.quarkus.opentelemetry"


def read(span: Span) -> Facts | None:
    """What the names of the spans say, and the texts beside the standard's attributes."""
    if span.name.startswith(_AGENT):
        agent = text(span.attributes.get("gen_ai.agent.name")) or span.name.removeprefix(_AGENT) or None
        return Facts(kind=Kind.WORKFLOW, weak_agent=agent, failure=failure_of(span), control_flow=is_control_flow(span))
    if span.name.startswith(_SERVICE):
        service = span.name.removeprefix(_SERVICE).rpartition(".")[0] or span.name.removeprefix(_SERVICE)
        failure = failure_of(span, exceptions_count=True)
        return Facts(kind=Kind.AGENT, agent=service or None, failure=failure, control_flow=is_control_flow(span))
    if span.name.startswith(_TOOL):
        failure = failure_of(span, exceptions_count=True)
        return Facts(
            kind=Kind.TOOL,
            tool=text(span.attributes.get("gen_ai.tool.name")) or span.name.removeprefix(_TOOL) or None,
            error=None if failure is None else str(failure),
            setting=TOOL_SETTING,
        )
    return _model(span) if span.attributes.get("gen_ai.request.model") is not None else None


def _model(span: Span) -> Facts:
    attributes, content = span.attributes, Content.of(span)
    said = text(attributes.get("gen_ai.completion"))
    asked = text(attributes.get("gen_ai.prompt")) or text(attributes.get("gen_ai.content.prompt"))
    calls_tools = attributes.get("gen_ai.response.finish_reasons") == "TOOL_EXECUTION"
    return Facts(
        kind=Kind.MODEL,
        input=(),  # of several messages in one text none is told apart
        prompt=asked,
        output=None if said is None else (Message(role="assistant", parts=(TextPart(text=said),)),),
        failure=failure_of(span, exceptions_count=True),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING if asked is None or (said is None and not calls_tools) else None,
    )


CONVENTION = Convention(name="langchain4j", read=read, scopes=(_SCOPE,))
