"""How each evaluator of a configuration is run: in the pipeline itself, or queued in a lane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from otel_eval.config.judging import JudgeModel
from otel_eval.config.model import Config
from otel_eval.dispatch.isolation import Isolated
from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.criterion import JudgeEvaluator
from otel_eval.evaluators.label_judge import LabelJudge
from otel_eval.judges import ModelJudge

EXACT_LANE = "exact"
"""Where exact evaluators queue when they are run again; live they run in the pipeline itself."""

_CUSTOM_CONCURRENCY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """An evaluator and how it is run.

    ``lane`` is the queue it waits in: one for each judge model, so that a model that is down holds up nobody else, and
    one for each custom evaluator. A judge of ours that code of a user's made is none of those. ``inline``: it runs when
    its Interaction is accepted. ``reads_evidence_alone``: it sees what a judge is shown and nothing else, so its
    verdict stands while that stays the same. ``judge_model`` is the name of the model that it asks, None where it asks
    none or only it knows which. ``version`` is the evaluator's, which may take a digest of its whole definition to
    tell.
    """

    evaluator: Evaluator
    lane: str
    inline: bool
    reads_evidence_alone: bool
    judge_model: str | None = None
    version: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", self.evaluator.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePlan:
    """How many of a lane run at the same time, and the litellm model that they ask, for metrics (None: they ask none)."""

    limit: int
    model: str | None = None


def plan(config: Config, evaluators: Mapping[str, Evaluator]) -> tuple[dict[str, Planned], dict[str, LanePlan]]:
    """The evaluators that are switched on, by id, and the lanes that they need."""
    planned: dict[str, Planned] = {}
    lanes: dict[str, LanePlan] = {EXACT_LANE: LanePlan(limit=config.dispatch.max_concurrency)}
    for name, evaluator in evaluators.items():
        entry = config.evaluators.get(name)
        if entry is None or not entry.enabled:
            continue
        if entry.kind == "use" and not _is_declared_judge(evaluator):
            isolated = Isolated(evaluator, timeout=config.dispatch.evaluator_timeout)
            lane = f"use:{name}"
            planned[name] = Planned(evaluator=isolated, lane=lane, inline=False, reads_evidence_alone=False)
            asked = entry.judge_model
            lanes[lane] = LanePlan(
                limit=_CUSTOM_CONCURRENCY, model=None if asked is None else _model_lane(config, asked).model
            )
        elif evaluator.asks_model:
            model = entry.judge_model or _named_model(evaluator) or "default"
            lane = f"model:{model}"
            planned[name] = Planned(
                evaluator=evaluator, lane=lane, inline=False, reads_evidence_alone=True, judge_model=model
            )
            lanes[lane] = _model_lane(config, model)
        else:
            planned[name] = Planned(evaluator=evaluator, lane=EXACT_LANE, inline=True, reads_evidence_alone=False)
    return planned, lanes


def _is_declared_judge(evaluator: Evaluator) -> bool:
    """Whether code of a user's made one of our judges, and none of it takes part in a call: its calls have limits of their
    own, it waits while its model is down, and it sees what a judge is shown."""
    if type(evaluator) is JudgeEvaluator:
        judge = evaluator.judge
        return type(judge) is ModelJudge and judge.declared
    return type(evaluator) is LabelJudge and evaluator.declared


def _named_model(evaluator: Evaluator) -> str | None:
    if isinstance(evaluator, JudgeEvaluator) and isinstance(evaluator.judge, ModelJudge):
        return evaluator.judge.model
    return evaluator.model if isinstance(evaluator, LabelJudge) else None


def _model_lane(config: Config, name: str) -> LanePlan:
    model = config.judge_models.get(name)
    if model is None:
        return LanePlan(limit=JudgeModel.model_fields["max_concurrency"].default, model=name)
    return LanePlan(limit=model.max_concurrency, model=model.model)
