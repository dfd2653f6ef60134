"""Microsoft Agent Framework's workflows, and the orchestrations that are made of them.

``workflow.run`` is around the executors of a run, among them the agents. It has the workflow's name and no content; what it
was asked, and what came out, stands with its agents. ``executor.process``, ``edge_group.process`` and ``message.send`` are
the passing on of messages. For .NET the span of a run is ``workflow_invoke`` in newer versions.
Source: agent-framework-core 1.23 (``observability.py``), agent-framework-orchestrations 1.4; for .NET their names alone.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.values import text
from otel_eval.signals import Span

_RUNS = frozenset({"workflow.run", "workflow_invoke"})


def read(span: Span) -> Facts | None:
    """A workflow's run; None for all else."""
    if span.name.partition(" ")[0] not in _RUNS:
        return None
    return Facts(
        kind=Kind.WORKFLOW, weak_agent=text(span.attributes.get("workflow.name")), setting="ENABLE_SENSITIVE_DATA=true"
    )


CONVENTION = Convention(name="agent-framework", read=read, scopes=("agent_framework", "Microsoft.Agents.AI.Workflows"))
