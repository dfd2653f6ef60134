"""Strands Agents for TypeScript, where it deviates from the semantic conventions that it writes.

An agent's ``gen_ai.choice`` (or the output of its details, under the latest conventions) is the text of the last message,
whoever's: with the finish reason ``interrupt`` the user's, and with ``toolUse`` what was said beside a call. A structured
answer is given by a call of ``strands_structured_output``, which is no tool's. A cycle has no operation, and the messages
of the conversation before the newest.
Source: @strands-agents/sdk 1.19 (``telemetry/tracer.js``, ``tools/structured-output-tool.js``).
"""

from __future__ import annotations

from otel_eval.conventions import genai
from otel_eval.conventions.facts import Convention, Facts, Kind, Mark
from otel_eval.conventions.reading.values import decode_leniently, is_object
from otel_eval.interaction import GapKind
from otel_eval.json_text import dumps
from otel_eval.signals import Span

_SCOPE = "strands-agents"
_ANSWER = "strands_structured_output"
_UNSAID = frozenset({"interrupt", "toolUse"})


def read(span: Span) -> Facts | None:
    """An agent's span without what nobody replied, a structured answer, and cycles; None for all else."""
    if span.scope.name != _SCOPE:
        return None
    told = span.attributes.get("gen_ai.operation.name")
    if told == "execute_tool" and span.attributes.get("gen_ai.tool.name") == _ANSWER:
        facts = genai.read(span)
        given = None if facts is None or facts.error is not None else facts.arguments
        reply = dumps(given).decode() if is_object(given) else None
        return Facts(kind=Kind.STEP, reply=reply, pseudo_tools=(_ANSWER,))
    if told == "invoke_agent" and _finish_reason(span) in _UNSAID:
        unsaid = Mark(field="output", kind=GapKind.NOT_CAPTURED)
        return Facts(kind=Kind.AGENT, output=(), pseudo_tools=(_ANSWER,), marks=(unsaid,))
    return Facts(kind=Kind.OTHER) if "agent_loop.cycle_id" in span.attributes else None


def _finish_reason(span: Span) -> str | None:
    for event in reversed(span.events):
        if event.name == "gen_ai.choice":
            return str(event.attributes.get("finish_reason"))
        messages = decode_leniently(event.attributes.get("gen_ai.output.messages"))
        if isinstance(messages, list) and messages and is_object(messages[-1]):
            return str(messages[-1].get("finish_reason"))
    return None


CONVENTION = Convention(name="strands-ts", read=read, scopes=(_SCOPE,))
