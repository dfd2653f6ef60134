"""The BeeAI framework under OpenInference: the tool that ends a run, and events that are written as agents.

Source: openinference-instrumentation-beeai 0.1 with beeai-framework 0.1. A RequirementAgent answers by calling the tool
``final_answer``, which has a span of its kind, and one more for the event of that name, whose kind is the agent's. A tool's
input stands beside its options, and what it raised in its output: the exception is the framework's, without words.
"""

from __future__ import annotations

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.values import is_object
from otel_eval.signals import Span

_SCOPE = "openinference.instrumentation.beeai"
_FINAL = "final_answer"


def read(span: Span) -> Facts | None:
    """What is no tool and no agent; the rest is for OpenInference's convention."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    attributes = span.attributes
    kind = attributes.get("openinference.span.kind")
    if kind == "AGENT":
        return (
            Facts(kind=Kind.AGENT, pseudo_tools=(_FINAL,)) if attributes.get("agent.name") else Facts(kind=Kind.OTHER)
        )
    if kind != "TOOL":
        return None
    return Facts(kind=Kind.OTHER) if attributes.get("tool.name") == _FINAL else _tool(span)


def _tool(span: Span) -> Facts:
    content = Content.of(span)
    taken = content.value("arguments", "input.value")
    given = content.result("result", "output.value") if span.status == "error" else MISSING
    return Facts(
        kind=Kind.TOOL,
        arguments=taken["input"] if is_object(taken) and set(taken) == {"input", "options"} else MISSING,
        error=given if isinstance(given, str) and given else None,
        marks=content.marks,
    )


CONVENTION = Convention(name="beeai", read=read, scopes=(_SCOPE,))
