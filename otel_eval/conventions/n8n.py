"""n8n's agents (``@n8n/agents``): the semantic conventions' agent and tools around the Vercel AI SDK's spans of the model.

The loop is n8n's own: each ``ai.generateText`` or ``ai.streamText`` within an agent's span is one call of the model. The
agent's ``gen_ai.prompt`` is the list of its tools. A tool that waits for a person gives what it waits with, its
``resumeSchema`` or ``continuation``, which is no result; the run that goes on is a trace of its own.
The AI Agent node of workflows has no such spans, and ``workflow.execute`` and ``node.execute`` have no content.
Source: @n8n/agents 0.26 (``runtime/telemetry/runtime-telemetry.ts``, ``runtime/tools/tool-adapter.ts``) of n8n 2.41.
"""

from __future__ import annotations

from otel_eval.conventions import vercel_ai
from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai_operations import kind_of
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.values import is_object
from otel_eval.signals import Span

SETTING = "N8N_AGENTS_TRACING_ENABLED=true N8N_AGENTS_TRACING_RECORD_INPUTS=true N8N_AGENTS_TRACING_RECORD_OUTPUTS=true"
_SCOPE = "@n8n/agents"
_SUSPENSION = frozenset({"payload", "continuation", "resumeSchema"})


def read(span: Span) -> Facts | None:
    """What a span is, and the switch for content; the rest is for the conventions whose attributes it has."""
    if span.scope.name != _SCOPE:
        return None
    kind = vercel_ai.KINDS.get(str(span.attributes.get("ai.operationId"))) or kind_of(span)
    if kind is None:
        return None
    if kind is Kind.TOOL and _is_suspended(Content.of(span)):
        return Facts(kind=Kind.OTHER)
    return Facts(kind=kind, setting=SETTING)


def _is_suspended(content: Content) -> bool:
    given = content.value("result", "gen_ai.tool.call.result")
    return is_object(given) and "payload" in given and len(given) > 1 and set(given) <= _SUSPENSION


CONVENTION = Convention(name="n8n", read=read, scopes=(_SCOPE,))
