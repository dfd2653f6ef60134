"""smolagents under OpenInference: where it deviates from that convention's letter.

Source: openinference-instrumentation-smolagents 0.1 with smolagents 1.26. The agent's span is named after the agent and has
the task in its input (``smolagents.task`` is the *previous* run's); a streamed run's output is the reprs of all that it
yielded, the answer last, or the argument of ``final_answer``, a tool that only ends the run. A tool's span has the arguments
of ``Tool.__call__``, and its input schema in ``tool.parameters``.
"""

from __future__ import annotations

import ast

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import tool_error_of
from otel_eval.conventions.reading.tool_payloads import tool_arguments
from otel_eval.conventions.reading.values import is_object, text
from otel_eval.signals import Span

_SCOPE = "openinference.instrumentation.smolagents"
_FINAL = "final_answer"
_ANSWER = "FinalAnswerStep(output="


def read(span: Span) -> Facts | None:
    """An agent's task, a tool's arguments; the rest is for OpenInference's convention."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    kind = span.attributes.get("openinference.span.kind")
    if kind == "AGENT":
        return Facts(
            kind=Kind.AGENT,
            agent=span.name.removesuffix(".run") or None,
            reply=_last_yielded(span.attributes.get("output.value")),
            pseudo_tools=(_FINAL,),
        )
    if kind == "TOOL" and span.attributes.get("tool.name") == _FINAL:
        return _final(span)
    return _tool(span) if kind == "TOOL" else None


def _last_yielded(given: object) -> str | None:
    """The answer at the end of a streamed run."""
    yielded = isinstance(given, str) and given.endswith(")") and given.rfind(_ANSWER)
    if not isinstance(given, str) or not yielded or yielded < 0:
        return None
    try:
        answer = ast.literal_eval(given[yielded + len(_ANSWER) : -1])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return answer if isinstance(answer, str) else None


def _final(span: Span) -> Facts:
    """The reply, as it is written."""
    content = Content.of(span)
    given = span.attributes.get("output.value")
    hidden = content.hidden("output", given)
    content.cut("output", given)
    return Facts(kind=Kind.STEP, reply=None if hidden else text(given), marks=content.marks)


def _tool(span: Span) -> Facts:
    content = Content.of(span)
    taken = content.value("arguments", "input.value")
    if is_object(taken):
        taken = tool_arguments({key: value for key, value in taken.items() if key != "sanitize_inputs_outputs"})
    return Facts(
        kind=Kind.TOOL,
        tool=text(span.attributes.get("tool.name")),
        arguments=None if content.marks else taken,  # OpenInference would take the schema
        error=tool_error_of(span),
        marks=content.marks,
    )


CONVENTION = Convention(name="smolagents", read=read, scopes=(_SCOPE,))
