"""The evaluators that a configuration describes, built; and what the judges need of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from otel_eval.config.bindings import EvaluatorEntry
from otel_eval.config.errors import ConfigError, Mistake
from otel_eval.config.judging import JudgeModel
from otel_eval.config.load import load
from otel_eval.config.model import Config
from otel_eval.evaluators.contract import Evaluator
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.from_config import from_check
from otel_eval.evaluators.label_judge import LabelJudge, builtin, label_judge
from otel_eval.evaluators.loading import load as load_custom
from otel_eval.judges import JudgeConfigError, JudgeModelSettings, Judges, LoopJudges, MemoryBudget, ModelJudge, Prices
from otel_eval.loop_guard import LoopGuard
from otel_eval.redaction import Redaction
from otel_eval.storage_directory import KEY_FILE


def load_evaluators(
    path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None
) -> list[Evaluator]:
    """The evaluators of that file that are switched on, in its order, each with its key as its id.

    They take the file's judges along, wherever they judge: its models, its redaction, its budgets, which hold for this call
    and as long as the process lives.

    Raises ConfigError as :func:`otel_eval.config.load` does, and for an evaluator that cannot be made.
    """
    config = load(path, environ)
    budget = MemoryBudget()
    judges = LoopJudges(lambda: build_judges(config, budget_store=budget))
    return [evaluator.with_judges(judges) for evaluator in build_evaluators(config).values()]


def build_evaluators(config: Config) -> dict[str, Evaluator]:
    """The evaluators that are switched on, by id. Imports what ``use`` names. Raises ConfigError with every mistake."""
    built: dict[str, Evaluator] = {}
    mistakes: list[Mistake] = []
    for name, entry in config.evaluators.items():
        if not entry.enabled:
            continue
        try:
            built[name] = build_evaluator(config, name)
        except (EvaluatorDefinitionError, JudgeConfigError) as error:
            mistakes.append(config.mistake(("evaluators", name, entry.kind), str(error)))
    if mistakes:
        raise ConfigError(mistakes)
    return built


def build_evaluator(config: Config, name: str) -> Evaluator:
    """The evaluator of that id. Raises KeyError, EvaluatorDefinitionError or JudgeConfigError."""
    entry = config.evaluators[name]
    if entry.check is not None:
        return from_check(entry.check).with_id(name)
    if entry.judge is not None:
        return _criterion(config, entry).with_id(name)
    if entry.use is not None:
        return _custom(config, entry, entry.use).with_id(name)
    return _label_judge(config, name, entry).with_id(name)


def judge_models(config: Config) -> dict[str, JudgeModelSettings]:
    """The entries of ``judge_models`` as judges take them."""
    return {name: judge_model_settings(model) for name, model in config.judge_models.items()}


def judge_model_settings(model: JudgeModel) -> JudgeModelSettings:
    """One entry, its secrets in the clear."""
    price = model.price_per_million_tokens
    return JudgeModelSettings(
        model=model.model,
        api_base=model.api_base,
        api_key=None if model.api_key is None else model.api_key.get_secret_value(),
        max_concurrency=model.max_concurrency,
        requests_per_minute=model.requests_per_minute,
        tokens_per_minute=model.tokens_per_minute,
        timeout=model.timeout,
        max_retries=model.max_retries,
        temperature=model.temperature,
        max_output_tokens=model.max_output_tokens,
        daily_budget_usd=model.daily_budget_usd,
        daily_budget_tokens=model.daily_budget_tokens,
        prices=None if price is None else Prices(input_per_million=price.input, output_per_million=price.output),
        fallbacks=model.fallbacks,
        response_format=model.response_format,
        headers={name: value.get_secret_value() for name, value in model.headers.items()},
        parameters=model.parameters,
    )


def build_judges(config: Config, **given: Any) -> Judges:
    """Whom the configuration's judges ask. ``given`` goes to :class:`Judges`: ``complete``, ``clock``, ``guard``, …."""
    return Judges(
        judge_models(config),
        redaction=redaction(config),
        max_input_chars=config.judges.max_input_chars,
        keep_content=config.judges.keep_content,
        **given,
    )


def known_loop_guard(config: Config) -> LoopGuard | None:
    """What knows our own telemetry: by the configured key, else by the one that a server left; None without either.

    Raises OSError or ValueError for a key that cannot be read.
    """
    if config.loop_guard.key is not None:
        return LoopGuard.from_text(config.loop_guard.key.get_secret_value())
    path = config.storage_directory / KEY_FILE
    return LoopGuard.from_file(path) if path.is_file() else None


def redaction(config: Config) -> Redaction:
    """What is taken out before anything leaves."""
    return Redaction(config.redaction.builtin, config.redaction.patterns)


def missing_judge_models(config: Config) -> tuple[Mistake, ...]:
    """The evaluators that would ask the default model where none is configured.

    A mistake for a server, not for a test that answers for the model itself: so whoever starts asks for it.
    """
    if "default" in config.judge_models:
        return ()
    message = "asks a judge, and there is neither a judge_model here nor a judge_models.default"
    return tuple(
        config.mistake(("evaluators", name), message)
        for name, entry in config.evaluators.items()
        if entry.enabled and entry.asks_judge and entry.judge_model in (None, "default")
    )


def _criterion(config: Config, entry: EvaluatorEntry) -> Evaluator:
    spec = entry.judge
    assert spec is not None
    judge = ModelJudge(system_message=spec.system, user_message=spec.user, include=spec.include)
    model = _model(config, entry)
    if model is not None:
        judge = judge.with_model(model, stands_for=_stands_for(config, model))
    return judge.should_score_at_least(spec.criterion, spec.threshold, votes=spec.votes, requires=spec.requires)


def _custom(config: Config, entry: EvaluatorEntry, path: str) -> Evaluator:
    evaluator = load_custom(path, entry.options)
    if entry.judge_model is None:
        return evaluator
    if isinstance(evaluator, LabelJudge):
        return evaluator.with_model(entry.judge_model, stands_for=_stands_for(config, entry.judge_model))
    with_model = getattr(evaluator, "with_model", None)
    if with_model is None:
        raise EvaluatorDefinitionError(f"{path} takes no judge_model: it has no method with_model(name)")
    changed: Evaluator = with_model(entry.judge_model)
    return changed


def _label_judge(config: Config, name: str, entry: EvaluatorEntry) -> LabelJudge:
    if entry.builtin is not None:
        judge = builtin(entry.builtin, votes=entry.votes)
    else:
        spec = entry.label_judge
        assert spec is not None
        labels = {"pass": spec.labels.passed, "fail": spec.labels.failed}
        judge = label_judge(
            name, system=spec.system, user=spec.user, labels=labels, votes=spec.votes, requires=spec.requires
        )
    model = _model(config, entry)
    return judge if model is None else judge.with_model(model, stands_for=_stands_for(config, model))


def _model(config: Config, entry: EvaluatorEntry) -> str | None:
    """The name to ask: the evaluator's own, else ``default`` where there is such an entry, else whatever is given then."""
    if entry.judge_model is not None:
        return entry.judge_model
    return "default" if "default" in config.judge_models else None


def _stands_for(config: Config, name: str) -> str | None:
    model = config.judge_model(name)
    return None if model is None else model.model
