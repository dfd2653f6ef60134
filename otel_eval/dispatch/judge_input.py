"""What a judge is asked of an Interaction: whether that is anything, and whether a revision changes it."""

from __future__ import annotations

from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.criterion import JudgeEvaluator
from otel_eval.evaluators.label_judge import LabelJudge
from otel_eval.interaction import Interaction, JsonValue
from otel_eval.interaction_json import to_json
from otel_eval.judges import ModelJudge
from otel_eval.outcome import Inconclusive

_SHOWN = ("agent", "asked", "reply", "failure", "tool_calls", "system", "history", "attachments", "gaps", "complete")
_SHOWN_OF_CALLS = ("name", "arguments", "result", "error", "gaps")


def asks_the_same(evaluator: Evaluator, before: Interaction, now: Interaction) -> bool:
    """Whether a judge that sees nothing but its prompt is asked of both the same, so that its verdict on one is that on the
    other: a toxicity judge, which is shown the reply, is not asked again for a tool call that came late."""
    return _question(evaluator, before) == _question(evaluator, now)


def _question(evaluator: Evaluator, interaction: Interaction) -> object:
    nothing = nothing_to_ask(evaluator, interaction)
    if nothing is not None:
        return nothing
    if isinstance(evaluator, LabelJudge):
        return evaluator.user_message(interaction)
    if isinstance(evaluator, JudgeEvaluator) and isinstance(evaluator.judge, ModelJudge):
        return evaluator.judge.user_message(evaluator.criterion, interaction)
    return _shown_to_any(interaction)


def _shown_to_any(interaction: Interaction) -> dict[str, JsonValue]:
    """All that a judge may be shown: not times, usage, ids of spans, links."""
    whole = to_json(interaction)
    shown = {key: whole[key] for key in _SHOWN}
    calls = whole["tool_calls"]
    assert isinstance(calls, list)
    shown["tool_calls"] = [{key: call[key] for key in _SHOWN_OF_CALLS} for call in calls if isinstance(call, dict)]
    return shown


def nothing_to_ask(evaluator: Evaluator, interaction: Interaction) -> Inconclusive | None:
    """The outcome of a judge that has nothing to judge there, whether its model is up or down; None where it is asked.

    Always None for custom evaluators: what they need, they alone know.
    """
    return evaluator.lacks(interaction) if isinstance(evaluator, JudgeEvaluator | LabelJudge) else None
