"""Haystack's own tracing: ``haystack.agent.run``, its steps, and pipelines of components.

Source: haystack-ai 2.0 to 3.4, any OpenTelemetry tracer connected to it. The tags are attributes, containers as JSON.
Since 3.0 an agent's model calls and tools are ``haystack.agent.step.llm`` and ``.tool``; before, and in pipelines, they are
components: ``haystack.component.run`` of a generator or a tool invoker. In a pipeline an agent is a component, too, and has
its name from there. Content needs HAYSTACK_CONTENT_TRACING_ENABLED.
A tool's error is a tag; the status stays unset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.payloads import ASK_KEYS, Payload, input_payload
from otel_eval.conventions.reading.values import decode_leniently, is_object, number, text
from otel_eval.interaction import Message, Usage
from otel_eval.signals import Span

SETTING = "HAYSTACK_CONTENT_TRACING_ENABLED=true"

KINDS: dict[str, Kind] = {
    "haystack.agent.run": Kind.AGENT,
    "haystack.agent.step": Kind.STEP,
    "haystack.agent.step.llm": Kind.MODEL,
    "haystack.agent.step.tool": Kind.TOOL,
    "haystack.pipeline.run": Kind.WORKFLOW,
    "haystack.async_pipeline.run": Kind.WORKFLOW,  # 2.x
    "haystack.component.run": Kind.STEP,
}
_GENERATORS = ("Generator", "LLM")


def read(span: Span) -> Facts | None:
    """What the span says in ``haystack.*``; None for a span that Haystack did not name."""
    kind = KINDS.get(span.name)
    if kind is None or not any(key.startswith("haystack.") for key in span.attributes):
        return None
    content = Content.of(span)
    if kind is Kind.AGENT:
        return _agent(span, content, "haystack.agent")
    if kind is Kind.MODEL:
        return _model(span, content, "haystack.agent.step.llm")
    if kind is Kind.TOOL:
        return _tool(span, content)
    if span.name == "haystack.component.run":
        return _component(span, content)
    if kind is Kind.WORKFLOW:
        return _pipeline(span, content)
    return Facts(kind=kind, setting=SETTING)


def _component(span: Span, content: Content) -> Facts:
    type_name = str(span.attributes.get("haystack.component.type", ""))
    if type_name.endswith("Agent"):
        return _agent(span, content, "haystack.component")
    if type_name.endswith(_GENERATORS):
        return _model(span, content, "haystack.component")
    return Facts(kind=Kind.STEP, setting=SETTING)


def _agent(span: Span, content: Content, prefix: str) -> Facts:
    taken = content.value("input", f"{prefix}.input")
    given = content.value("output", f"{prefix}.output")
    return Facts(
        kind=Kind.AGENT,
        agent=text(span.attributes.get("haystack.component.name")),
        input=chat(taken.get("messages")) if is_object(taken) else None,
        asked=_named(taken),
        output=chat(given.get("messages")) if is_object(given) else None,
        system=text(taken.get("system_prompt")) if is_object(taken) else None,
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _named(taken: Any) -> str | None:
    """What the program passed besides messages, for a template of the agent's."""
    if not is_object(taken) or taken.get("messages"):
        return None
    return next((text(taken[key]) for key in ASK_KEYS if text(taken.get(key))), None)


def _model(span: Span, content: Content, prefix: str) -> Facts:
    taken = content.value("input", f"{prefix}.input")
    given = content.value("output", f"{prefix}.output")
    replies = given.get("replies") if is_object(given) else None
    meta = _meta(given, replies)
    usage = meta.get("usage")
    return Facts(
        kind=Kind.MODEL,
        input=chat(taken.get("messages", taken.get("prompt"))) if is_object(taken) else None,
        output=chat(replies, "assistant"),
        model=text(meta.get("model")),
        response_id=text(meta.get("id")),
        finish_reasons=tuple(filter(None, [text(meta.get("finish_reason"))])),
        usage=_usage(usage) if is_object(usage) else Usage(),
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _meta(given: Any, replies: Any) -> Mapping[str, Any]:
    """Of a chat generator in the message, of a plain one beside the replies."""
    first = replies[0] if isinstance(replies, list) and replies else None
    if is_object(first) and is_object(first.get("meta", first.get("_meta"))):
        return dict(first.get("meta", first.get("_meta")) or {})
    beside = given.get("meta") if is_object(given) else None
    return beside[0] if isinstance(beside, list) and beside and is_object(beside[0]) else {}


def _usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=number(usage.get("prompt_tokens", usage.get("input_tokens"))),
        output_tokens=number(usage.get("completion_tokens", usage.get("output_tokens"))),
    )


def chat(value: Any, role: str = "user") -> tuple[Message, ...] | None:
    """Messages of ``ChatMessage.to_dict``: ``{"role", "content": [{"text"} | {"tool_call"} | {"tool_call_result"}]}``."""
    if isinstance(value, str):
        return read_messages(value, role) or None
    if not isinstance(value, list):
        return None
    return read_messages([_message(item) for item in value], role) or None


def _message(item: Any) -> Any:
    if not is_object(item):
        return item
    content = item.get("content", item.get("_content"))  # 2.0 to 2.8 wrote its private names
    parts = [_part(part) for part in content] if isinstance(content, list) else content
    return {"role": item.get("role", item.get("_role")), "content": parts}


def _part(part: Any) -> Any:
    if is_object(part) and is_object(call := part.get("tool_call")):
        return {"type": "tool_call", "name": call.get("tool_name"), **call}
    if is_object(part) and is_object(result := part.get("tool_call_result")):
        origin = result.get("origin")
        call = origin if is_object(origin) else {}
        return {
            "type": "tool_call_response",
            "id": call.get("id"),
            "name": call.get("tool_name"),
            "response": result.get("result"),
            "is_error": result.get("error") is True,
        }
    if is_object(part) and is_object(reasoning := part.get("reasoning")):
        return {"type": "reasoning", "content": reasoning.get("reasoning_text")}
    return part


def _tool(span: Span, content: Content) -> Facts:
    result = content.result("result", "haystack.agent.step.tool.output")
    error = tool_error_of(span)
    if error is None and span.attributes.get("haystack.tool.error") is True:
        told = decode_leniently(span.attributes.get("haystack.agent.step.tool.output"))
        error = text(told.get("error")) if is_object(told) else None
        error = error or "haystack.tool.error"
    elif error is None:
        result = _said(result)
        error = error_in_result(result)
    return Facts(
        kind=Kind.TOOL,
        tool=text(span.attributes.get("haystack.tool.name")),
        arguments=content.json("arguments", "haystack.agent.step.tool.input"),
        result=MISSING if error is not None else result,
        error=error,
        call_id=text(span.attributes.get("haystack.tool.call.id")),
        marks=content.marks,
        setting=SETTING,
    )


def _said(result: Any) -> Any:
    """An agent's last message, where the tool is one (``AgentTool``): what its caller's model is shown."""
    reply = _reply_in(result) if is_object(result) and result.keys() >= {"messages", "last_message"} else None
    return result if reply is None else reply


def _pipeline(span: Span, content: Content) -> Facts:
    """``input_data``: the inputs of each component; the question is often given to several. They are no content tag."""
    taken = component_inputs(content.value("input", "haystack.pipeline.input_data"))
    given = content.value("output", "haystack.pipeline.output_data")
    return Facts(
        kind=Kind.WORKFLOW,
        weak_agent=_metadata_name(span),
        input=taken.messages,
        asked=taken.text,
        reply=component_reply(given),
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _metadata_name(span: Span) -> str | None:
    metadata = decode_leniently(span.attributes.get("haystack.pipeline.metadata"))
    return text(metadata.get("name")) if is_object(metadata) else None


def component_inputs(data: Any) -> Payload:
    """``{"prompt_builder": {"question": …}, "retriever": {"query": …}}``: told if the components agree on what was asked."""
    if not is_object(data):
        return Payload()
    flat = {key: value for key, value in data.items() if not is_object(value)}
    inner = [value for value in data.values() if is_object(value)]
    for item in inner:
        if messages := chat(item.get("messages")):
            return Payload(messages=messages)
    texts = {found for item in (flat, *inner) for key in ASK_KEYS if (found := text(item.get(key))) is not None}
    if len(texts) == 1:
        return Payload(text=texts.pop())
    return input_payload(flat) if flat and not inner else Payload()


def component_reply(data: Any) -> str | None:
    """The one reply that came out of a pipeline: of a generator, an agent or an answer builder."""
    said = [
        text_of for value in (data.values() if is_object(data) else ()) if (text_of := _reply_in(value)) is not None
    ]
    return said[0] if len(set(said)) == 1 else None


def _reply_in(value: Any) -> str | None:
    if not is_object(value):
        return None
    last = value.get("last_message")
    for key in ("replies", "answers"):
        items = value.get(key)
        if last is None and isinstance(items, list) and items:
            last = items[-1]
    if is_object(last) and isinstance(last.get("data"), str):
        return text(last["data"])  # an answer builder's
    messages = chat([last], "assistant") if last is not None else None
    return messages[0].text if messages else None


CONVENTION = Convention(name="haystack", read=read, prefixes=("haystack.",))
