"""Microsoft.Extensions.AI: the semantic conventions, but for a span ``orchestrate_tools`` around the loop that calls tools.

That span has no attributes, and is not there within an agent's. Where the instrumentation is put around the client that
calls functions, instead of into it, one ``chat`` is the whole loop: its output holds calls, results and answer.
Source: Microsoft.Extensions.AI 9.3 to 10.x of dotnet/extensions (``FunctionInvokingChatClient``,
``OpenTelemetryChatClient``, ``FunctionInvocationProcessor``), Microsoft.Agents.AI (``OpenTelemetryAgent``), main branches
of 2026.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.signals import Span

LOOP = "orchestrate_tools"


def read(span: Span) -> Facts | None:
    """The loop, which is no agent; None for all else."""
    return Facts(kind=Kind.STEP) if span.name == LOOP else None


CONVENTION = Convention(name="extensions-ai", read=read, names=(LOOP,))
