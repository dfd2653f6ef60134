"""LlamaIndex's workflows under OpenInference: steps of a state machine, whose values are Python reprs of its events.

Source: openinference-instrumentation-llama-index 4.6.1 with llama-index-core 0.14. What is said stands in the spans of
the model's calls; the agent's name only inside the reprs of events, and what a tool that returns directly gave as the reply:
in the event that ends a run, which is cut after some 200 characters.
"""

from __future__ import annotations

import re

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.reprs import value_in
from otel_eval.conventions.reading.trouble import failure_of
from otel_eval.signals import Span

_SCOPE = "openinference.instrumentation.llama_index"
_AGENT_NAME = re.compile(r"""current_agent_name\\?["']?\s*[=:]\s*\\?["'](?P<name>[^"'\\]+)\\?["']""")
_STOP = re.compile(
    r"StopEvent\(result=AgentOutput\(response=ChatMessage\(role=<MessageRole\.ASSISTANT: 'assistant'>, additional_kwargs=\{\}, "
    r"blocks=\[TextBlock\(block_type='text', text=(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\)\]\)"
)
"""The end of a run with all of its reply."""


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
    return Facts(
        kind=Kind.AGENT if is_run else Kind.STEP,
        agent=agent_named_in(span, "input.value", "output.value"),
        reply=_reply(span) if is_run else None,
        failure=failure_of(span),
    )


def _reply(span: Span) -> str | None:
    value = span.attributes.get("output.value")
    found = _STOP.match(value) if isinstance(value, str) else None
    said = value_in(found["text"]) if found is not None else None
    return said if isinstance(said, str) else None


def agent_named_in(span: Span, *keys: str) -> str | None:
    """The agent that an event in one of these attributes names, in JSON or in Python's words."""
    for key in keys:
        value = span.attributes.get(key)
        found = _AGENT_NAME.search(value) if isinstance(value, str) else None
        if found is not None:
            return found["name"]
    return None


CONVENTION = Convention(name="llama-index", read=read, scopes=(_SCOPE,))
