"""Tracers that record what functions took and returned (Langfuse, MLflow, LangSmith and their like): one reading for all.

A span is of a kind and has a name, an input and an output, each whatever the traced function, model or tool took and gave.
"""

from __future__ import annotations

import re
from typing import Any

from otel_eval.conventions.facts import MISSING, NO_USAGE, Facts, Kind, Missing
from otel_eval.conventions.reading.answers import answer_id, answer_messages, counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, first_exception_of, is_control_flow
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.payloads import Payload, input_of, output_of
from otel_eval.conventions.reading.placeholders import says_nothing
from otel_eval.conventions.reading.run_together import apart
from otel_eval.conventions.reading.tool_payloads import tool_arguments, tool_outcome
from otel_eval.conventions.reading.values import containers, is_object, plain, text
from otel_eval.frozen import frozen
from otel_eval.interaction import Failure, JsonValue, Message, TextPart, Usage
from otel_eval.signals import Span

_GENERATOR = re.compile(r"<(?:async_)?generator object [^\n<>]*(?:<locals>[^\n<>]*)* at 0x[0-9a-f]+>")


@frozen
class Observed:
    """One such span. ``taken`` and ``given`` are decoded; MISSING where they were not captured. ``given_raw``
    is the text that ``given`` was decoded from, where a function may have given that text itself.
    """

    kind: Kind
    name: str | None
    taken: Any = MISSING
    given: Any = MISSING
    given_raw: str | None = None
    failure: Failure | None = None
    control_flow: bool = False
    setting: str | None = None
    model: str | None = None
    usage: Usage = NO_USAGE
    call_id: str | None = None
    session: str | None = None
    agent: str | None = None
    """The agent that it runs under, if the telemetry says so; an agent's own name is ``name``."""


def facts_of(observed: Observed, span: Span, content: Content) -> Facts:
    """What the span says."""
    if observed.kind is Kind.TOOL:
        return _tool(observed, span, content)
    if observed.kind is Kind.MODEL:
        return _model(observed, span, content)
    if observed.kind in (Kind.AGENT, Kind.WORKFLOW, Kind.STEP):
        return _agent(observed, span, content)
    return Facts(kind=observed.kind)


def failure_in(span: Span, kind: Kind) -> Failure | None:
    """As :func:`failure_of` tells it; a tool's in the words of the first exception, the cause where a wrapper's
    follows it."""
    failure = failure_of(span)
    return (first_exception_of(span) or failure) if failure is not None and kind is Kind.TOOL else failure


def _agent(observed: Observed, span: Span, content: Content) -> Facts:
    taken = Payload() if _absent(observed.taken) else input_of(observed.taken)
    given = Payload()
    if not _absent(observed.given) and not says_nothing(observed.given_raw):
        given = output_of(observed.given, structured=observed.kind is Kind.AGENT, raw=observed.given_raw)
    return Facts(
        kind=observed.kind,
        agent=_own_name(observed.name) if observed.kind is Kind.AGENT else observed.agent,
        weak_agent=observed.name,
        session=observed.session,
        input=taken.messages,
        asked=taken.text,
        output=given.messages,
        reply=given.text,
        pseudo_tools=given.pseudo_tools,
        usage=observed.usage,
        aggregated=True,
        failure=observed.failure,
        control_flow=observed.control_flow or is_control_flow(span),
        marks=content.marks,
        setting=observed.setting,
    )


def _own_name(name: str | None) -> str | None:
    """None for a method (``AgentExecutor.invoke``), which is no agent's name."""
    return None if name is not None and "." in name and " " not in name else name


def _absent(value: Any) -> bool:
    """Nothing, or a generator in Python's words, which nobody had asked for anything yet."""
    return value is MISSING or value is None or (isinstance(value, str) and _GENERATOR.fullmatch(value) is not None)


def _model(observed: Observed, span: Span, content: Content) -> Facts:
    taken, given = observed.taken, observed.given
    usage = observed.usage
    if usage == NO_USAGE and is_object(given):
        usage = counted(given.get("usage", given.get("usage_metadata")))
    return Facts(
        kind=Kind.MODEL,
        agent=observed.agent,
        session=observed.session,
        input=_request(taken),
        output=apart(_answer(given), taken.get("tools") if is_object(taken) else None),
        system=_instructions(taken),
        model=observed.model or (text(given.get("model")) if is_object(given) else None),
        response_id=answer_id(given),
        usage=usage,
        failure=observed.failure,
        control_flow=observed.control_flow or is_control_flow(span),
        marks=content.marks,
        setting=observed.setting,
    )


def _request(taken: Any) -> tuple[Message, ...] | None:
    if _absent(taken):
        return None
    found = input_of(taken)
    if found.messages is None and found.text is not None:
        return (Message(role="user", parts=(TextPart(text=found.text),)),)
    return found.messages or read_messages(taken) or None


def _answer(given: Any) -> tuple[Message, ...] | None:
    if _absent(given):
        return None
    if isinstance(given, str):
        return (Message(role="assistant", parts=(TextPart(text=given),)),)
    return answer_messages(given) or None


def _instructions(taken: Any) -> str | None:
    """Beside the messages, as Anthropic's and OpenAI's responses take them."""
    if not is_object(taken):
        return None
    for key in ("instructions", "system"):
        said = [message.text for message in read_messages(taken.get(key), "system") if message.text]
        if said:
            return "\n".join(said)
    return None


def _tool(observed: Observed, span: Span, content: Content) -> Facts:
    outcome = None if observed.given is MISSING else tool_outcome(observed.given)
    arguments: JsonValue | Missing = MISSING if observed.taken is MISSING else _arguments(observed.taken)
    error = str(observed.failure) if observed.failure is not None else outcome.error if outcome is not None else None
    return Facts(
        kind=Kind.TOOL,
        tool=observed.name,
        agent=observed.agent,
        session=observed.session,
        arguments=arguments,
        result=outcome.result if outcome is not None else MISSING,
        error=error,
        call_id=observed.call_id or (outcome.call_id if outcome is not None else None),
        control_flow=observed.control_flow or is_control_flow(span),
        marks=content.marks,
        setting=observed.setting,
    )


def _arguments(taken: Any) -> JsonValue:
    """LangChain passes on ``{"input": "{'id': 81}"}``: the arguments as Python writes them."""
    if is_object(taken) and set(taken) == {"input"} and isinstance(taken["input"], str):
        inner = containers(taken["input"])
        if is_object(inner):
            return plain(inner)
    return tool_arguments(taken)
