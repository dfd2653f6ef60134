"""LangSmith's export over OTLP (``LANGSMITH_OTEL_ENABLED``, ``LANGSMITH_TRACING_MODE=otel``): its runs as spans.

``langsmith.span.kind`` is the type of the run; its inputs and outputs stand whole in ``gen_ai.prompt`` and
``gen_ai.completion``, ``{}`` where they are hidden. A failed run has an exception event whose message is the error's repr and
its traceback, while the status may say OK.
Source: langsmith 0.15.1 (Python) and 0.12.0 (JavaScript).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.answers import counted
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import CONTROL_FLOW, failure_of
from otel_eval.conventions.reading.langgraph import agent_in, entrypoint_in
from otel_eval.conventions.reading.observed import Observed, facts_of
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text
from otel_eval.interaction import Failure
from otel_eval.signals import Span

SETTING = "LANGSMITH_HIDE_INPUTS=false LANGSMITH_HIDE_OUTPUTS=false"

KINDS: dict[str, Kind] = {"chain": Kind.WORKFLOW, "llm": Kind.MODEL, "tool": Kind.TOOL}
"""All else (retriever, embedding, prompt, parser) is no agent's work."""

_SYNTHETIC = "<synthetic>"
_REPR = re.compile(r"(?P<type>[A-Za-z_][\w.]*)\((?P<arguments>.*)\)", re.S)


def read(span: Span) -> Facts | None:
    """What the run says; None for a span that is no run."""
    attributes = span.attributes
    kind_name = text(attributes.get("langsmith.span.kind"))
    if kind_name is None:
        return None
    kind = KINDS.get(kind_name.lower(), Kind.OTHER)
    name = first_text(attributes, ("langsmith.trace.name", "gen_ai.tool.name")) or span.name or None
    agent = text(attributes.get("langsmith.metadata.lc_agent_name"))
    if kind is Kind.WORKFLOW and agent is not None and name == agent:
        kind = Kind.AGENT
    elif kind is Kind.WORKFLOW and name == attributes.get("langsmith.metadata.langgraph_node"):
        kind = Kind.STEP  # a node of a graph: no invocation of its own, even where the graph's span is not there
    content = Content.of(span)
    failure = _failure(span)
    steers = failure is not None and failure.type is not None and failure.type.split(".")[-1] in CONTROL_FLOW
    given = _value(content, "output", "gen_ai.completion")
    observed = Observed(
        kind=kind,
        name=name,
        taken=_unwrapped(
            _value(content, "input", "gen_ai.prompt", empty=kind is Kind.TOOL and given is not MISSING), kind
        ),
        given=_given(given, kind),
        failure=None if steers else failure,
        control_flow=steers,
        setting=SETTING,
        model=first_text(attributes, ("gen_ai.response.model", "gen_ai.request.model")),
        usage=counted(decode_leniently(attributes.get("langsmith.metadata.usage_metadata"))),
        call_id=text(attributes.get("gen_ai.tool.call.id")),
        session=_session(attributes),
        agent=agent or (_asking(name, attributes) if kind in (Kind.MODEL, Kind.STEP) else None),
    )
    facts = facts_of(observed, span, content)
    if observed.model == _SYNTHETIC:
        facts = replace(facts, failure=_told_in_place(facts))
    # an error stands in place of the output, which is then the last that the model had: nothing
    return replace(facts, output=None) if kind is Kind.MODEL and facts.failure is not None else facts


def _value(content: Content, field: str, key: str, empty: bool = False) -> Any:
    """The whole inputs or outputs. ``empty``: an empty object is one, and not what is left when content is hidden."""
    value = content.value(field, key, twice=False)
    return MISSING if value == {} and not empty else value


def _unwrapped(taken: Any, kind: Kind) -> Any:
    """A tool's arguments without the name that the Claude Agent SDK's integration puts them under."""
    if kind is Kind.TOOL and is_object(taken) and set(taken) == {"input"} and is_object(taken["input"]):
        return taken["input"]
    return taken


def _given(given: Any, kind: Kind) -> Any:
    """A tool's result without the name that JavaScript's ``traceable`` puts what is no object under."""
    return given["outputs"] if kind is Kind.TOOL and is_object(given) and set(given) == {"outputs"} else given


def _asking(name: str | None, attributes: Mapping[str, Any]) -> str | None:
    node, way = (text(attributes.get(f"langsmith.metadata.langgraph_{key}")) for key in ("node", "checkpoint_ns"))
    return agent_in(node, way) or entrypoint_in(name, node, attributes.get("langsmith.metadata.langgraph_triggers"))


def _session(attributes: Mapping[str, Any]) -> str | None:
    """LangGraph's thread, or what LangSmith groups runs by."""
    names = ("session_id", "thread_id", "conversation_id")
    return first_text(attributes, (f"langsmith.metadata.{name}" for name in names))


def _told_in_place(facts: Facts) -> Failure | None:
    """The error that Claude Code says in place of an answer, as of a model of its own."""
    said = next((message.text for message in facts.output or () if message.text), "")
    return Failure(message=said) if said.startswith("API Error") else facts.failure


def _failure(span: Span) -> Failure | None:
    found = failure_of(span, exceptions_count=True)
    if found is None or found.message is None:
        return found
    shaped = _REPR.match(found.message)
    if shaped is None:
        return found
    try:
        arguments = ast.literal_eval(f"({shaped['arguments']},)")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return Failure(type=shaped["type"], message=shaped["arguments"] or None)
    said = [argument for argument in arguments if isinstance(argument, str)]
    return Failure(type=shaped["type"], message=said[0] if said else shaped["arguments"] or None)


CONVENTION = Convention(name="langsmith", read=read, prefixes=("langsmith.span.kind",))
