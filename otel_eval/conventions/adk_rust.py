"""ADK-Rust: the names of Google ADK's first attributes, in a shape of its own, on spans of the ``tracing`` crate.

``agent.execute`` is one invocation, ``execute`` of an agent's tool one of the agent within, a team's spans likewise;
``call_llm`` holds the request and the response, whose parts are ADK-Rust's: a call is ``{"name", "args", "id"}``
without a wrapping, an answer the pieces of its stream. Instructions are a message of the user's before the first.
Arguments and results of tools stand there alone; on a tool's own span only in a debug event. Tokens are on
``gen_ai.generate`` below.

No span has a status: a model that was asked again until no try was left, and then has no response, has failed. After a
transfer the next agent's spans are traces of their own. Content is always on, but cut to 2 KiB.
Source: adk-runner, adk-agent, adk-tool, adk-telemetry and adk-model 2.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.google_adk import HANDOFFS
from otel_eval.conventions.reading.content import USAGE_KEYS, Content, usage_of
from otel_eval.conventions.reading.failures import failure_of, tool_error_of
from otel_eval.conventions.reading.languages import RUST_KEYS, rust_module
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.streaming import joined
from otel_eval.conventions.reading.values import decode_leniently, is_object, plain, text
from otel_eval.interaction import Failure, Message
from otel_eval.signals import Span

CRATES = ("adk_runner::", "adk_agent::", "adk_tool::", "adk_telemetry::")
SETTING = "RunConfig::builder().trace_payload_max_bytes(1_000_000)"

_RETRY = "Provider request failed with retryable error; retrying"
_CUT = "...[truncated "
_USAGE = {
    **USAGE_KEYS,
    "cache_read_tokens": ("gen_ai.usage.cache_read_tokens",),
    "cache_write_tokens": ("gen_ai.usage.cache_creation_tokens",),
    "reasoning_tokens": ("gen_ai.usage.thinking_tokens",),
}


def read(span: Span) -> Facts | None:
    """What the span says; None for spans of other crates, and for ADK-Rust's ordinary ones."""
    if not rust_module(span).startswith(CRATES):
        return None
    attributes, name = span.attributes, span.name
    if name == "agent.execute":
        return _agent(span, Kind.AGENT, "agent.name")
    if name == "execute" and "agent_tool.name" in attributes:
        return _agent(span, Kind.AGENT, "agent_tool.name")
    if name == "team.member.run":
        return _agent(span, Kind.AGENT, "team.member")
    if name == "team.run":
        return _agent(span, Kind.WORKFLOW, "team.name")
    if name == "call_llm":
        return _call(span, Content.of(span))
    if name == "gen_ai.generate":
        return Facts(
            kind=Kind.MODEL,
            model=text(attributes.get("gen_ai.request.model")),
            usage=usage_of(attributes, _USAGE),
            failure=failure_of(span),
        )
    if name.startswith("execute_tool ") and "tool.name" in attributes:
        return _tool(span)
    return None


def _agent(span: Span, kind: Kind, key: str) -> Facts:
    name = text(span.attributes.get(key))
    return Facts(
        kind=kind,
        agent=name if kind is Kind.AGENT else None,
        weak_agent=name if kind is Kind.WORKFLOW else None,
        session=text(span.attributes.get("gen_ai.conversation.id")),
        user_id=text(span.attributes.get("adk.user_id")),
        failure=failure_of(span),
        setting=SETTING,
    )


def _call(span: Span, content: Content) -> Facts:
    request = content.value("input", "gcp.vertex.agent.llm_request")
    response = content.value("output", "gcp.vertex.agent.llm_response")
    told = request.get("contents") if is_object(request) else None
    contents = [each for each in told if is_object(each)] if isinstance(told, list) else []
    system, rest = _parted(contents)
    answered = "gcp.vertex.agent.llm_response" in span.attributes
    return Facts(
        kind=Kind.MODEL,
        session=text(span.attributes.get("gcp.vertex.agent.session_id")),
        input=_messages(rest) if contents else None,
        output=_messages([response]) if is_object(response) else None,
        system="".join(message.text or "" for message in _messages(system)) or None,
        model=text(request.get("model")) if is_object(request) else None,
        failure=failure_of(span) or (None if answered else _given_up(span)),
        marks=content.marks,
        setting=SETTING,
        pseudo_tools=HANDOFFS,
    )


def _parted(contents: Sequence[Mapping[str, Any]]) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
    """The instructions, and the conversation: where two of the user's messages open it, the first is no user's."""
    opens = len(contents) > 1 and all(each.get("role") == "user" for each in contents[:2])
    return (contents[:1], contents[1:]) if opens else ((), contents)


def _messages(contents: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    wrapped = [{**each, "parts": [_wrapped(part) for part in each.get("parts") or ()]} for each in contents]
    return tuple(joined(message) for message in read_messages(wrapped))


def _wrapped(part: Any) -> Any:
    """A call as Gemini's, whose other parts ADK-Rust's are; and an answer with the id that stands beside it."""
    if not is_object(part):
        return part
    if "name" in part and "args" in part:
        return {"functionCall": part}
    if is_object(part.get("functionResponse")):
        return {"functionResponse": {"id": part.get("id"), **part["functionResponse"]}}
    return part


def _given_up(span: Span) -> Failure | None:
    """The error of the last try, where there was no other after it."""
    tries = [event.attributes for event in span.events if event.name == _RETRY]
    if not tries or str(tries[-1].get("attempt")) != str(tries[-1].get("max_retries")):
        return None
    return Failure(type=text(tries[-1].get("error.code")), message=text(tries[-1].get("error")))


def _tool(span: Span) -> Facts:
    """``{"error"}`` is what a model is told of a tool that failed; the span does not say."""
    raw = next((event.attributes.get("tool.args") for event in span.events if event.name == "tool_call"), None)
    cut = not isinstance(raw, str) or _CUT in raw
    return Facts(
        kind=Kind.TOOL,
        tool=text(span.attributes.get("tool.name")),
        arguments=MISSING if cut else plain(decode_leniently(raw)),
        error=tool_error_of(span),
        setting=SETTING,
    )


CONVENTION = Convention(
    name="adk-rust",
    read=read,
    prefixes=("gcp.vertex.agent.", "gen_ai.", "agent_tool.", "team.name"),
    needs=RUST_KEYS,
)
