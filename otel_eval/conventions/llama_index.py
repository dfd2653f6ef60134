"""LlamaIndex's workflows under OpenInference: steps of a state machine, whose values are Python reprs of its events.

Source: openinference-instrumentation-llama-index 4.6.1 with llama-index-core 0.14. What is said stands in the spans of
the model's calls; the agent's name only inside the reprs of events, and what a tool that returns directly gave as the reply:
in the event that ends a run, which is cut after some 200 characters.
"""

from __future__ import annotations

import re

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.llama_events import ended_with
from otel_eval.signals import Span

_SCOPE = "openinference.instrumentation.llama_index"
_AGENT_NAME = re.compile(r"""current_agent_name\\?["']?\s*[=:]\s*\\?["'](?P<name>[^"'\\]+)\\?["']""")


def read(span: Span) -> Facts | None:
    """Which of LlamaIndex's spans is the agent's, and its name; the rest is for OpenInference's convention."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    kind = span.attributes.get("openinference.span.kind")
    owner, _, method = span.name.rpartition(".")
    if kind == "LLM" and method.startswith("_"):
        return Facts(kind=Kind.OTHER)  # prepares a request
    if kind not in ("CHAIN", "AGENT"):
        return None
    is_run = method == "run" and owner.endswith(("Agent", "AgentWorkflow"))
    given = span.attributes.get("output.value")
    is_workflow = method == "run" and not is_run and _runs_steps(span)
    return Facts(
        kind=Kind.AGENT if is_run else Kind.WORKFLOW if is_workflow else Kind.STEP,
        agent=agent_named_in(span, "input.value", "output.value"),
        weak_agent=owner if is_workflow else None,
        reply=ended_with(given) if method == "run" else None,
        failure=failure_of(span),
    )


def _runs_steps(span: Span) -> bool:
    """Whether it is the run of a workflow, by what that takes and gives."""
    taken, given = (str(span.attributes.get(key)) for key in ("input.value", "output.value"))
    return taken.startswith('{"init_state"') or given.startswith("StopEvent(")


def agent_named_in(span: Span, *keys: str) -> str | None:
    """The agent that an event in one of these attributes names, in JSON or in Python's words."""
    for key in keys:
        value = span.attributes.get(key)
        found = _AGENT_NAME.search(value) if isinstance(value, str) else None
        if found is not None:
            return found["name"]
    return None


CONVENTION = Convention(name="llama-index", read=read, scopes=(_SCOPE,))
