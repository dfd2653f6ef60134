"""smolagents under OpenInference: where it deviates from that convention's letter.

Source: openinference-instrumentation-smolagents 0.1 with smolagents 1.26. The agent's span has the task; a tool's has the
arguments of ``Tool.__call__`` and its input schema in ``tool.parameters``. The tool ``final_answer`` only ends the run.
"""

from __future__ import annotations

from otel_eval.conventions.content import Content
from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.payloads import tool_arguments
from otel_eval.conventions.trouble import tool_error_of
from otel_eval.conventions.values import is_object, text
from otel_eval.signals import Span

_SCOPE = "openinference.instrumentation.smolagents"
_FINAL = "final_answer"


def read(span: Span) -> Facts | None:
    """An agent's task, a tool's arguments; the rest is for OpenInference's convention."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    kind = span.attributes.get("openinference.span.kind")
    if kind == "AGENT":
        return Facts(kind=Kind.AGENT, asked=text(span.attributes.get("smolagents.task")), pseudo_tools=(_FINAL,))
    return _tool(span) if kind == "TOOL" else None


def _tool(span: Span) -> Facts:
    content = Content.of(span)
    taken = content.value("arguments", "input.value")
    if is_object(taken):
        taken = tool_arguments({key: value for key, value in taken.items() if key != "sanitize_inputs_outputs"})
    name = text(span.attributes.get("tool.name"))
    return Facts(
        kind=Kind.STEP if name == _FINAL else Kind.TOOL,
        tool=name,
        arguments=None if content.marks else taken,  # OpenInference would take the schema
        error=tool_error_of(span),
        marks=content.marks,
    )


CONVENTION = Convention(name="smolagents", read=read, scopes=(_SCOPE,))
