"""LangChain.js under OpenLLMetry: every span a trace of its own, named by classes.

Source: @traceloop/instrumentation-langchain 0.27. It takes LangChain's callback arguments in a wrong order, so that neither
parents nor names reach the spans: a graph is ``workflow CompiledStateGraph`` whatever the agent's name, its nodes are
``workflow RunnableSequence``, and a tool is ``execute_tool DynamicStructuredTool``. The graph's span alone has the whole run:
the state that went in, and the messages that came out, among them the tool calls and the agent's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.openllmetry import INPUT, KIND, OUTPUT
from otel_eval.conventions.openllmetry import JS_SETTING as SETTING
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of, is_control_flow
from otel_eval.conventions.reading.payloads import input_payload, output_payload
from otel_eval.conventions.reading.values import is_object, text
from otel_eval.signals import Span

_SCOPE = "@traceloop/instrumentation-langchain"
_GRAPHS = ("Compiled", "Pregel", "LangGraph", "RemoteGraph")


def read(span: Span) -> Facts | None:
    """A graph's or an agent executor's span; nodes of a graph are steps without content. The rest is for OpenLLMetry's."""
    if not span.scope.name.startswith(_SCOPE) or span.attributes.get(KIND) != "workflow":
        return None
    name = text(span.attributes.get("traceloop.workflow.name")) or ""
    if span.attributes.get("gen_ai.operation.name") != "invoke_agent" and not _is_agent(name):
        return Facts(kind=Kind.STEP, detached=True, setting=SETTING)
    content = Content.of(span)
    taken, given = content.value("input", INPUT), content.value("output", OUTPUT)
    asked, said = input_payload(taken), output_payload(given, structured=False)
    ids, new = ([message["id"] for message in _messages(state) if message["id"]] for state in (taken, given))
    return Facts(
        kind=Kind.AGENT,
        agent=_speaker(given, frozenset(ids)),
        weak_agent=None if name.startswith(_GRAPHS) else name,
        input=asked.messages,
        asked=asked.text,
        output=said.messages,
        reply=said.text,
        pseudo_tools=said.pseudo_tools,
        failure=failure_of(span),
        control_flow=is_control_flow(span),
        marks=content.marks,
        setting=SETTING,
        detached=True,
        message_ids=tuple(dict.fromkeys((*ids, *new))),
    )


def _is_agent(class_name: str) -> bool:
    return class_name.startswith(_GRAPHS) or class_name.endswith(("Agent", "AgentExecutor"))


def _speaker(state: Any, before: Set[str]) -> str | None:
    """The name of the agent that spoke first in this turn: ``createAgent`` signs its messages with it.

    ``before``: the ids of the messages that went in, which are other agents'.
    """
    speaker: str | None = None
    for message in reversed(_messages(state)):
        if message["type"] in ("human", "user") or message["id"] in before:
            break
        if message["type"] == "ai":
            speaker = text(message["name"]) or speaker
    return speaker


def _messages(state: Any) -> list[dict[str, Any]]:
    messages = state.get("messages") if is_object(state) else None
    return list(_plain(messages)) if isinstance(messages, list) else []


def _plain(messages: Iterable[Any]) -> Iterable[dict[str, Any]]:
    for message in messages:
        if not is_object(message):
            continue
        path, fields = message.get("id"), message.get("kwargs")
        if is_object(fields):  # a constructor: its class says what it is
            kind = str(path[-1] if isinstance(path, list) and path else fields.get("type"))
            kind = kind.lower().removesuffix("chunk").removesuffix("message")
        else:
            kind = str(message.get("type", message.get("role"))).lower()
            kind, fields = "ai" if kind == "assistant" else kind, message
        yield {"type": kind, "name": fields.get("name"), "id": text(fields.get("id"))}


CONVENTION = Convention(name="openllmetry-langchain-js", read=read, scopes=(_SCOPE,))
