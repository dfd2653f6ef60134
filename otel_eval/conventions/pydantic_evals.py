"""Pydantic Evals: an experiment, its cases, the task in each, and the evaluators of what came of it.

Source: pydantic-evals 2.62 (``dataset.py``, ``evaluators/``). The frames are ordinary spans: the task's agents are at work as
anywhere. The operation ``experiment`` stands on the outermost. Without Logfire there are no spans of its own; the judges that
it comes with are agents of Pydantic AI, by these names.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.values import text
from otel_eval.signals import Span

_SCOPE = "pydantic-evals"
_EVALUATORS = ("evaluator: ", "report_evaluator: ")
_JUDGES = frozenset(
    {
        "judge_output",
        "judge_input_output",
        "judge_input_output_expected",
        "judge_output_expected",
        "judge_without_text",
        "judge_g_eval",
    }
)


def read(span: Span) -> Facts | None:
    """Evaluators and judges; that an experiment's frame is an ordinary span."""
    if span.scope.name == _SCOPE:
        return Facts(kind=Kind.EVALUATOR if span.name.startswith(_EVALUATORS) else Kind.OTHER)
    judges = text(span.attributes.get("gen_ai.agent.name")) in _JUDGES and "gen_ai.tool.name" not in span.attributes
    return Facts(kind=Kind.EVALUATOR) if judges and span.name.startswith(_RUNS) else None


_RUNS = ("invoke_agent ", "agent run")

CONVENTION = Convention(name="pydantic-evals", read=read, scopes=(_SCOPE, "pydantic-ai"))
