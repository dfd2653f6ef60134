"""Whether a record says what its judge really said: decided from the raw answer that is kept on it, by other code than ours.

Plain ``json.loads`` on the whole answer, without its fence: what it finds is a verdict, and what it does not find is not.
"""

from __future__ import annotations

import json
import math
from typing import Any

from otel_eval.interaction import Interaction
from otel_eval.outcome import Cause, Evaluation, Inconclusive
from otel_eval.record import EvaluationRecord

_NO_CALL = {
    Cause.NOTHING_TO_JUDGE, Cause.NOT_CAPTURED, Cause.REDACTED, Cause.TRUNCATED, Cause.INCOMPLETE,
    Cause.INTERACTION_FAILED,
}  # fmt: skip


def untrue(record: EvaluationRecord, interaction: Interaction, labels: tuple[str, ...]) -> str | None:
    """What is untrue about it, or None. ``labels`` are those of a label judge, none for a criterion."""
    outcome = record.outcome
    answer = record.judge_calls[-1].answer if record.judge_calls else None
    if isinstance(outcome, Evaluation):
        return _untrue_verdict(outcome, answer, labels)
    if outcome.cause in _NO_CALL:
        return _untrue_lack(interaction, record)
    if outcome.cause is Cause.UNKNOWN_LABEL:
        label = str((_whole(answer) or {}).get("label", "")).strip().lower()
        return None if label and label not in labels else f"{label!r} is a label that it knows"
    if outcome.cause is Cause.JUDGE_ANSWER_UNUSABLE and isinstance(outcome, Inconclusive):
        return f"{answer!r} was usable" if answer is None or _usable(answer, labels) else None
    if outcome.cause in (Cause.JUDGE_TIMEOUT, Cause.JUDGE_UNAVAILABLE, Cause.JUDGE_ERROR):
        return None if record.judge_calls and record.judge_calls[-1].error else "the last call went well"
    return f"nothing here should end with {outcome.cause}"


def _untrue_verdict(outcome: Evaluation, answer: str | None, labels: tuple[str, ...]) -> str | None:
    said = _whole(answer)
    if said is None:
        return f"{answer!r} is no verdict"
    given = str(said.get("label")).strip().lower() if labels else float(said.get("score", math.nan))
    kept = outcome.label if labels else outcome.score
    return None if given == kept else f"the model said {given!r}, the record {kept!r}"


def _untrue_lack(interaction: Interaction, record: EvaluationRecord) -> str | None:
    if record.judge_calls:
        return "a model was asked though nothing was there to judge"
    fields = (interaction.reply, interaction.asked, *(call.result for call in interaction.tool_calls))
    lacks = interaction.failed or any(not field for field in fields) or not interaction.tool_calls
    return None if lacks else "everything was there"


def _usable(answer: str, labels: tuple[str, ...]) -> bool:
    """Whether the whole answer, fence and blanks aside, is one object with a score in range, or a label."""
    said = _whole(answer)
    if said is None:
        return False
    if labels:
        label, explanation = said.get("label"), said.get("explanation")
        return isinstance(label, str) and bool(label.strip()) and isinstance(explanation, str)
    score = said.get("score")
    return isinstance(score, int | float) and 0 <= score <= 1 and isinstance(said.get("reason"), str)


def _whole(answer: str | None) -> dict[str, Any] | None:
    text = (answer or "").strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        said = json.loads(text, strict=False)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None
