"""Upsonic's own instrumentation: ``agent.run``, ``tool.execute``, and the steps of its pipeline.

Source: upsonic 0.77.3, ``agent/otel_manager.py``. Model calls are read as GenAI. Texts are cut at 5,000 characters, without a
sign of it; a tool's result is Python's repr, of a function in ``{"func": …}``. A run that raised has neither input nor
output; the trace's name is the beginning of what was asked.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind, Missing
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import error_in_result, failure_of, tool_error_of
from otel_eval.conventions.reading.values import decode_leniently, is_object, text
from otel_eval.interaction import GapKind, JsonValue
from otel_eval.signals import Span

SETTING = "InstrumentationSettings(include_content=True)"
LIMIT = 5000


def read(span: Span) -> Facts | None:
    """Runs and tools; steps are ordinary spans, and model calls GenAI's."""
    if span.scope.name != "upsonic":
        return None
    if span.name == "agent.run":
        return _run(span)
    if span.name == "tool.execute":
        return _tool(span)
    return Facts(kind=Kind.OTHER) if span.name.startswith("pipeline.") else None


def _run(span: Span) -> Facts:
    content, name = Content.of(span), text(span.attributes.get("upsonic.agent.name"))
    called = text(span.attributes.get("langfuse.trace.name"))
    return Facts(
        kind=Kind.AGENT,
        agent=name or "",
        asked=text(_whole(content, "input", span.attributes.get("upsonic.input"))),
        reply=text(_whole(content, "output", span.attributes.get("upsonic.output"))),
        prompt=called if called not in (name, "agent.run") else None,
        usage=usage_of(span.attributes),
        aggregated=True,
        failure=failure_of(span),
        marks=content.marks,
        setting=SETTING,
    )


def _tool(span: Span) -> Facts:
    content = Content.of(span)
    given: JsonValue | Missing = MISSING
    if "langfuse.observation.output" in span.attributes:
        said = _whole(content, "result", decode_leniently(span.attributes["langfuse.observation.output"]))
        given = decode_leniently(said)
        if is_object(given) and set(given) == {"func"}:
            given = given["func"]
    error = tool_error_of(span)
    if error is None and span.attributes.get("upsonic.tool.success") is False:
        error = str(given) if given is not MISSING else "upsonic.tool.success is false"
    if error is None and given is not MISSING:
        error = error_in_result(given)
    return Facts(
        kind=Kind.TOOL,
        tool=text(span.attributes.get("upsonic.tool.name")),
        call_id=text(span.attributes.get("upsonic.tool.call_id")),
        arguments=content.json("arguments", "langfuse.observation.input"),
        result=given,
        error=error,
        marks=content.marks,
        setting=SETTING,
    )


def _whole(content: Content, field: str, value: Any) -> Any:
    """The value, with a mark where it is as long as what is cut."""
    if isinstance(value, str) and len(value) == LIMIT:
        content.mark(field, GapKind.TRUNCATED)
    return value


CONVENTION = Convention(name="upsonic", read=read, scopes=("upsonic",))
