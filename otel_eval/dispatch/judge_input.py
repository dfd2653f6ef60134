"""What a judge is shown of an Interaction: as a digest, since a verdict stands while it stays the same; and whether
it suffices."""

from __future__ import annotations

import json

from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.criterion import JudgeEvaluator
from otel_eval.evaluators.label_judge import LabelJudge
from otel_eval.identity import digest
from otel_eval.interaction import Interaction
from otel_eval.interaction_json import to_json
from otel_eval.outcome import Inconclusive

_SHOWN = ("agent", "asked", "reply", "failure", "tool_calls", "system", "history", "attachments", "gaps", "complete")
_SHOWN_OF_CALLS = ("name", "arguments", "result", "error", "gaps")


def judged_digest(interaction: Interaction) -> str:
    """The same for Interactions that differ only in what no judge sees: times, usage, ids of spans, links."""
    whole = to_json(interaction)
    shown = {key: whole[key] for key in _SHOWN}
    calls = whole["tool_calls"]
    assert isinstance(calls, list)
    shown["tool_calls"] = [{key: call[key] for key in _SHOWN_OF_CALLS} for call in calls if isinstance(call, dict)]
    return digest(json.dumps(shown, sort_keys=True, default=str))


def nothing_to_ask(evaluator: Evaluator, interaction: Interaction) -> Inconclusive | None:
    """The outcome of a judge that has nothing to judge there, whether its model is up or down; None where it is asked.

    Always None for custom evaluators: what they need, they alone know.
    """
    return evaluator.lacks(interaction) if isinstance(evaluator, JudgeEvaluator | LabelJudge) else None
