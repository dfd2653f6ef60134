"""Spring AI's observations: ``spring.ai.kind`` is ``chat_client``, ``advisor`` or ``tool_call``.

A chat client's call is the agent: it has no name, and its conversation is ``spring.ai.chat.client.conversation.id``. The
model's calls have the standard's attributes; their content is only logged, without roles, except in milestones of 1.0,
which wrote it into span attributes and events. Tools: ``spring.ai.tool.*`` since 1.0.
Source: Spring AI 1.0 to 2.1, reference documentation and ``DefaultToolCallingObservationConvention``.
"""

from __future__ import annotations

from otel_eval.conventions.content import Content
from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.trouble import error_in_result, failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.values import text
from otel_eval.signals import Span

SETTING = "spring.ai.tools.observations.include-content=true"

KINDS: dict[str, Kind] = {"chat_client": Kind.AGENT, "tool_call": Kind.TOOL}
"""All else is a step: advisors around the model's call, vector stores."""


def read(span: Span) -> Facts | None:
    """What the observation says; None without a kind, as the model's calls."""
    kind_name = text(span.attributes.get("spring.ai.kind"))
    if kind_name is None:
        return None
    kind = KINDS.get(kind_name, Kind.OTHER)
    content = Content.of(span)
    if kind is Kind.TOOL:
        return _tool(span, content)
    if kind is Kind.OTHER:
        return Facts(kind=kind)
    attributes = span.attributes
    return Facts(
        kind=kind,
        asked=text(attributes.get("spring.ai.chat.client.user.text")),  # until 1.0.0-M6
        prompt=text(attributes.get("gen_ai.prompt")),
        system=text(attributes.get("spring.ai.chat.client.system.text")),
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
    )


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
        setting=SETTING,
    )


CONVENTION = Convention(name="spring-ai", read=read, prefixes=("spring.ai.kind",))
