"""Mastra 0.x with ``telemetry``: every method of an agent is a span, with its arguments and what it gave back as JSON.

``agent.generate`` and ``agent.stream`` (``…Legacy``, ``…VNext``) are the invocations, with ``<name>.argument.<n>``,
``<name>.result`` and the agent's name in ``componentName``. Until 0.13, and in ``…Legacy`` since, the Vercel AI SDK writes
the calls of models and tools below them; its own loop (0.14 and later) is a workflow of which ``llm-execution`` is the
model's call, and ``toolCallStep`` the tool's, with ``mastra.stream.toolCall`` and what the tool did below it. All other
methods and steps are plumbing. Always with content.
Since 1.0, and beside this since 0.17, there is Mastra's exporter (:mod:`.mastra`).
Source: @mastra/core 0.10.15, 0.13.2, 0.16.3, 0.20.2 and 0.24.9 (``telemetry/telemetry.decorators.ts``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import answer_id, counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import error_in_result, failure_of, is_control_flow, tool_error_of
from otel_eval.conventions.reading.messages import read_message, read_messages
from otel_eval.conventions.reading.parts import result_value
from otel_eval.conventions.reading.values import containers, is_object, plain, text
from otel_eval.interaction import Failure, Message, TextPart
from otel_eval.json_text import dumps
from otel_eval.signals import Span

SETTING = "telemetry: {enabled: true}"

AGENTS = frozenset(f"agent.{method}{of}" for method in ("generate", "stream") for of in ("", "Legacy", "VNext"))
MODEL = "workflow.executionWorkflow.step.llm-execution"
STREAM = "mastra.stream"
TOOL = "mastra.stream.toolCall"
TOOL_STEP = "workflow.executionWorkflow.step.toolCallStep"
_FAILED = "error"
_LOOP = ("agentic-loop", "executionWorkflow")
_TOO_DEEP = '"[MaxDepth]"'
_NO_RESULT = ("[Not Serializable]", "[Telemetry Capture Error]")


def read(span: Span) -> Facts | None:
    """What the span says of an invocation, a model's call or a tool's; None for the plumbing."""
    if span.name == TOOL:
        return _tool(span)
    if span.name == STREAM:
        return _stream(span)
    if span.name == TOOL_STEP:
        return _tool_step(span)
    if span.name == MODEL:
        return _model(span)
    return _agent(span) if span.name in AGENTS and "componentName" in span.attributes else None


def _value(content: Content, field: str, key: str) -> Any:
    """An argument or a result, decoded once: a text in it is a text, whatever it looks like."""
    if content.attributes.get(key) in _NO_RESULT:
        return MISSING
    return content.value(field, key, twice=False)


def _agent(span: Span) -> Facts:
    """An invocation. One without a result failed, or its span did not wait for it (``generate`` since 0.21): a frame."""
    content = Content.of(span)
    asked = _value(content, "input", f"{span.name}.argument.0")
    options = containers(span.attributes.get(f"{span.name}.argument.1"))
    given = _value(content, "output", f"{span.name}.result")
    result: Mapping[str, Any] = given if is_object(given) else {}
    output = tuple(_output(result))
    name = text(span.attributes.get("componentName"))
    name = None if name in _LOOP else name  # of an agent within a tool the name of what called it, from the baggage
    kind = Kind.AGENT if f"{span.name}.result" in span.attributes else Kind.WORKFLOW
    return Facts(
        kind=kind,
        agent=name if kind is Kind.AGENT else None,
        weak_agent=name,
        session=_session(options) or text(span.attributes.get("threadId")),
        user_id=_user(options) or text(span.attributes.get("resourceId")),
        input=_input(asked) or None,
        output=output or None,
        reply=_reply(result),
        usage=counted(result.get("totalUsage") or result.get("usage")),
        aggregated=True,
        failure=_failure(span, result.get("finishReason")),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _input(asked: Any) -> tuple[Message, ...]:
    """A text, texts, one message, or a list of them in any of the SDK's shapes."""
    items = asked if isinstance(asked, list) else [asked]
    return tuple(
        message
        for item in items
        for message in (
            (Message(role="user", parts=(TextPart(text=item),)),) if isinstance(item, str) else read_messages(item)
        )
    )


def _session(options: Any) -> str | None:
    memory = options.get("memory") if is_object(options) else None
    if is_object(memory):
        thread = memory.get("thread")
        return text(thread.get("id") if is_object(thread) else thread)
    return text(options.get("threadId")) if is_object(options) else None


def _user(options: Any) -> str | None:
    memory = options.get("memory") if is_object(options) else None
    if is_object(memory):
        return text(memory.get("resource"))
    return text(options.get("resourceId")) if is_object(options) else None


def _output(result: Mapping[str, Any]) -> Iterator[Message]:
    """The calls of tools and what they gave, step by step where there are steps, then what was said."""
    steps = result.get("steps")
    for step in steps if isinstance(steps, list) and steps else [result]:
        if is_object(step):
            yield from _calls(step.get("toolCalls"))
            yield from _results(step.get("toolResults"))
    said = _reply(result)
    if said is not None:
        yield Message(role="assistant", parts=(TextPart(text=said),))


def _reply(result: Mapping[str, Any]) -> str | None:
    """The text, else the object of a structured answer; an empty text beside calls of tools alone is none."""
    said, given = result.get("text"), result.get("object")
    if isinstance(said, str) and said:
        return said
    if isinstance(given, dict | list):
        return dumps(plain(given)).decode()
    return said if isinstance(said, str) and result.get("finishReason") in ("stop", "length") else None


def _calls(calls: Any) -> Iterator[Message]:
    held = [_payload(call) for call in calls] if isinstance(calls, list) else []
    if held:
        yield read_message({"role": "assistant", "tool_calls": held})


def _results(results: Any) -> Iterator[Message]:
    for item in results if isinstance(results, list) else ():
        held = _payload(item)
        if is_object(held) and "result" in held:
            made = {"type": "tool-result", **held}
            if error_in_result(held["result"]) is not None:
                made["isError"] = True
            yield read_message({"role": "tool", "content": [made]})


def _payload(item: Any) -> Any:
    """``{"type", "payload"}`` since 0.14."""
    return item["payload"] if is_object(item) and is_object(item.get("payload")) else item


def _failure(span: Span, reason: object) -> Failure | None:
    return failure_of(span) or (Failure(message="the finish reason is error") if reason == _FAILED else None)


def _stream(span: Span) -> Facts:
    """The whole loop in one span, with what went in first and was said last; of a call that failed the span that stays.

    The agent's ``stream`` never ends then, and until 0.16 the passes of the loop have no spans.
    """
    content = Content.of(span)
    name = text(span.attributes.get("componentName"))
    said, reason = (text(span.attributes.get(f"stream.response.{key}")) for key in ("text", "finishReason"))
    return Facts(
        kind=Kind.MODEL if reason == _FAILED else Kind.STEP,
        agent=None if name in _LOOP else name,
        input=content.messages("input", "stream.prompt.messages"),
        reply=said,
        model=text(span.attributes.get("aisdk.model.id")),
        failure=_failure(span, reason),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _model(span: Span) -> Facts:
    """One pass of the loop: ``inputData`` in, and out the answer with the request as the provider got it."""
    content = Content.of(span)
    taken = _value(content, "input", f"{MODEL}.argument.0")
    result = _value(content, "output", f"{MODEL}.result")
    output, metadata = _at(result, "output"), _at(result, "metadata")
    said = text(output.get("text"))
    spoken = () if said is None else (Message(role="assistant", parts=(TextPart(text=said),)),)
    reason = text(_at(result, "stepResult").get("reason"))
    return Facts(
        kind=Kind.STEP if reason == _FAILED else Kind.MODEL,  # the stream's span tells of it
        input=_heard(_at(taken, "inputData", "messages")) or _heard(_at(result, "messages")) or None,
        output=(*spoken, *_calls(output.get("toolCalls"))) or None,
        system=_system(containers(_at(metadata, "request").get("body"))),
        model=text(metadata.get("modelId")),
        response_id=answer_id(metadata),
        finish_reasons=() if reason is None else (reason,),
        usage=counted(output.get("usage")),
        failure=_failure(span, reason),
        marks=content.marks,
        setting=SETTING,
    )


def _heard(messages: Mapping[str, Any]) -> tuple[Message, ...]:
    """What the model was shown; nothing where that nests deeper than Mastra writes since 0.21."""
    found = messages.get("all")
    return read_messages(found) if _is_whole(found) else ()


def _is_whole(value: Any) -> bool:
    return _TOO_DEEP not in dumps(plain(value)).decode()


def _at(value: Any, *path: str) -> Mapping[str, Any]:
    """The object at that place; an empty one where there is none."""
    for key in path:
        value = containers(value.get(key)) if is_object(value) else None
    return value if is_object(value) else {}


def _system(body: Any) -> str | None:
    """The instructions, which stand in the provider's request alone: OpenAI's, Anthropic's or Gemini's."""
    if not is_object(body):
        return None
    for key in ("instructions", "system", "systemInstruction"):
        told = [message.text for message in read_messages(body.get(key), "system") if message.text]
        if told:
            return "\n".join(told)
    messages = read_messages(body.get("messages") or body.get("input") or ())
    return "\n".join(message.text for message in messages if message.role == "system" and message.text) or None


def _tool_step(span: Span) -> Facts:
    content = Content.of(span)
    asked = _at(_value(content, "arguments", f"{TOOL_STEP}.argument.0"), "inputData")
    given = _at(_value(content, "result", f"{TOOL_STEP}.result"))
    result = result_value(given["result"]) if "result" in given and _is_whole(given["result"]) else MISSING
    return Facts(
        kind=Kind.TOOL,
        tool=text(asked.get("toolName")) or text(given.get("toolName")),
        arguments=plain(asked["args"]) if "args" in asked and _is_whole(asked["args"]) else MISSING,
        result=result,
        error=tool_error_of(span) or error_in_result(result),
        call_id=text(asked.get("toolCallId")) or text(given.get("toolCallId")),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


def _tool(span: Span) -> Facts:
    content = Content.of(span)
    result = content.result("result", "stream.toolCall.result")
    return Facts(
        kind=Kind.TOOL,
        tool=text(span.attributes.get("stream.toolCall.toolName")),
        arguments=content.json("arguments", "stream.toolCall.args"),
        result=result,
        error=tool_error_of(span) or error_in_result(result),
        call_id=text(span.attributes.get("stream.toolCall.toolCallId")),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(
    name="mastra-telemetry",
    read=read,
    prefixes=("agent.generate", "agent.stream", "stream.response.", "stream.toolCall.", f"{MODEL}.", f"{TOOL_STEP}."),
)
