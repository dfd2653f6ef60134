"""AG2 until 1.0 (``autogen.opentelemetry``): a conversation of agents that reply to one another in turn.

``conversation`` is what a program asked for; below it is an ``invoke_agent`` for each single reply: of the agent, whose
model asks for a tool, of the user's proxy, which runs it, of the manager of a group. So the conversation is the invocation
and a reply is part of it, unless a program asked for that alone. Of who has no model the messages are as that one sees them,
its own as ``assistant``; so are those of a conversation, to whoever began it. Instructions and what went to the model stand
only in the model's spans. AG2 1.x writes whole invocations, and no version (``TelemetryMiddleware``): the standard's.
Source: ag2 0.14.0 (``autogen/opentelemetry/instrumentators``).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.values import text
from otel_eval.interaction import Message
from otel_eval.signals import Span

SETTING = "instrument_llm_wrapper(capture_messages=True)"
_SCOPE = "opentelemetry.instrumentation.ag2"
_MANAGER = "chat_manager"


def read(span: Span) -> Facts | None:
    """A conversation and the replies in it; the rest is for the standard's convention."""
    if span.scope.name != _SCOPE or not span.scope.version:
        return None
    kind = span.attributes.get("ag2.span.type")
    if kind == "conversation":
        return _conversation(span)
    if kind == "agent":
        return _reply(span)
    return Facts(kind=Kind.MODEL, setting=SETTING) if kind == "llm" else None


def _conversation(span: Span) -> Facts:
    name = text(span.attributes.get("gen_ai.agent.name"))  # of who began it
    said = Content.of(span).messages("output", "gen_ai.output.messages") or ()
    others = [message for message in said if message.role == "user" and message.text]
    reply = tuple(Message(role="assistant", parts=message.parts) for message in others[-1:])
    return Facts(kind=Kind.AGENT, agent="", weak_agent=name, output=reply, aggregated=True, setting=SETTING)


def _reply(span: Span) -> Facts:
    name = text(span.attributes.get("gen_ai.agent.name"))
    if "gen_ai.request.model" not in span.attributes or name == _MANAGER:
        return Facts(kind=Kind.WORKFLOW, agent="", weak_agent=name, input=(), output=(), setting=SETTING)
    return Facts(kind=Kind.WORKFLOW, agent=name, weak_agent=name, setting=SETTING)


CONVENTION = Convention(name="ag2", read=read, scopes=(_SCOPE,))
