"""Spring AI's observations: ``spring.ai.kind`` is ``chat_client``, ``advisor`` or ``tool_call``.

A chat client's call is the agent: it has no name, and its conversation is ``spring.ai.chat.client.conversation.id``. The
model's calls have the standard's attributes. Tools: ``spring.ai.tool.*`` since 1.0; what a tool raised is told to the model
in place of its result, and nothing tells the one from the other.

What was said is only logged, as :mod:`otel_eval.conventions.spring_ai_content` reads it; milestones of 1.0 wrote the same
texts into ``gen_ai.prompt`` and ``gen_ai.completion``, until 1.0.0-M6 the user's in ``spring.ai.chat.client.user.text``.
Source: Spring AI 1.0.3, 1.1.2, 2.0.1: ``Default*ObservationConvention``, ``*ObservationHandler``, ``*AutoConfiguration``.
"""

from __future__ import annotations

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.values import text
from otel_eval.conventions.spring_ai_content import client_prompt, completion, model_prompt, read_log
from otel_eval.signals import Span

SETTING = (
    "spring.ai.chat.client.observations.log-prompt=true spring.ai.chat.observations.log-prompt=true "
    "spring.ai.chat.observations.log-completion=true and the application's log exported with its spans' ids"
)
TOOL_SETTING = "spring.ai.tools.observations.include-content=true"

_SCOPE = "org.springframework.boot"
"""Of everything that Spring Boot observes."""

KINDS: dict[str, Kind] = {"chat_client": Kind.AGENT, "tool_call": Kind.TOOL}
"""All else is a step: advisors around the model's call, vector stores."""


def read(span: Span) -> Facts | None:
    """What the observation says; None for what is none of Spring AI's."""
    kind_name = text(span.attributes.get("spring.ai.kind"))
    if kind_name is None:
        return _model(span) if _is_models(span) else None
    kind = KINDS.get(kind_name, Kind.OTHER)
    if kind is Kind.TOOL:
        return _tool(span, Content.of(span))
    return Facts(kind=kind) if kind is Kind.OTHER else _client(span, Content.of(span))


def _is_models(span: Span) -> bool:
    """Others observe models with Spring Boot as well: Spring AI names the provider as the standard did until 1.36."""
    return span.attributes.get("gen_ai.operation.name") == "chat" and "gen_ai.system" in span.attributes


def _client(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    told = client_prompt(text(attributes.get("gen_ai.prompt")))
    return Facts(
        kind=Kind.AGENT,
        asked=text(attributes.get("spring.ai.chat.client.user.text")) or told.asked,
        prompt=told.prompt,
        system=text(attributes.get("spring.ai.chat.client.system.text")) or told.system,
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _model(span: Span) -> Facts:
    """A model's call, which the standard's attributes tell all about but what was said."""
    asked, said = (text(span.attributes.get(key)) for key in ("gen_ai.prompt", "gen_ai.completion"))
    told = model_prompt(asked)
    return Facts(kind=Kind.MODEL, input=told.input, prompt=told.prompt, output=completion(said).output, setting=SETTING)


def _tool(span: Span, content: Content) -> Facts:
    attributes = span.attributes
    result = content.result("result", "spring.ai.tool.call.result")
    error = tool_error_of(span)
    if error is None and result is not MISSING:
        error = error_in_result(result)
    return Facts(
        kind=Kind.TOOL,
        tool=text(attributes.get("spring.ai.tool.definition.name")) or span.name.partition(" ")[2] or None,
        arguments=content.json("arguments", "spring.ai.tool.call.arguments"),
        result=result,
        error=error,
        call_id=text(attributes.get("spring.ai.tool.call.id")),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=TOOL_SETTING,
    )


CONVENTION = Convention(name="spring-ai", read=read, read_log=read_log, prefixes=("spring.ai.",), scopes=(_SCOPE,))
