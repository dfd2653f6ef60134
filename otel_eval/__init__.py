"""Trace-driven evaluation of AI agents: OTLP in, verdicts out into the telemetry pipeline.

What is exported here is imported when it is first used, so that ``import otel_eval`` stays light: no gRPC, no litellm, no
SQLAlchemy. The evaluators' names read as what they check: ``should_call_tool("getOrder")``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_eval.config import ConfigError as ConfigError
    from otel_eval.config import load_evaluators as load_evaluators
    from otel_eval.evaluators.budgets import should_make_at_most_model_calls as should_make_at_most_model_calls
    from otel_eval.evaluators.budgets import should_make_at_most_tool_calls as should_make_at_most_tool_calls
    from otel_eval.evaluators.budgets import should_reply_within as should_reply_within
    from otel_eval.evaluators.budgets import should_use_at_most_tokens as should_use_at_most_tokens
    from otel_eval.evaluators.contract import EvaluationContext as EvaluationContext
    from otel_eval.evaluators.contract import Evaluator as Evaluator
    from otel_eval.evaluators.criterion import JudgeEvaluator as JudgeEvaluator
    from otel_eval.evaluators.criterion import should_satisfy as should_satisfy
    from otel_eval.evaluators.criterion import should_score_at_least as should_score_at_least
    from otel_eval.evaluators.custom import evaluator as evaluator
    from otel_eval.evaluators.failures import should_not_fail as should_not_fail
    from otel_eval.evaluators.label_judge import LabelJudge as LabelJudge
    from otel_eval.evaluators.label_judge import hallucination as hallucination
    from otel_eval.evaluators.label_judge import label_judge as label_judge
    from otel_eval.evaluators.label_judge import summarization as summarization
    from otel_eval.evaluators.label_judge import toxicity as toxicity
    from otel_eval.evaluators.reply_json import reply_should_be_json as reply_should_be_json
    from otel_eval.evaluators.reply_numbers import (
        reply_should_not_contain_luhn_number as reply_should_not_contain_luhn_number,
    )
    from otel_eval.evaluators.reply_numbers import (
        reply_should_not_contain_payment_card as reply_should_not_contain_payment_card,
    )
    from otel_eval.evaluators.reply_text import reply_should_contain as reply_should_contain
    from otel_eval.evaluators.reply_text import reply_should_match as reply_should_match
    from otel_eval.evaluators.reply_text import reply_should_not_contain as reply_should_not_contain
    from otel_eval.evaluators.reply_text import reply_should_not_match as reply_should_not_match
    from otel_eval.evaluators.tool_values import should_call_tool_with as should_call_tool_with
    from otel_eval.evaluators.tool_values import tool_result_should_contain as tool_result_should_contain
    from otel_eval.evaluators.tools import should_call_tool as should_call_tool
    from otel_eval.evaluators.tools import should_call_tools as should_call_tools
    from otel_eval.evaluators.tools import should_call_tools_in_order as should_call_tools_in_order
    from otel_eval.evaluators.tools import should_not_call_tool as should_not_call_tool
    from otel_eval.evaluators.tools import should_not_call_tools as should_not_call_tools
    from otel_eval.evaluators.tools import tools_should_not_fail as tools_should_not_fail
    from otel_eval.experiment import EvalCase as EvalCase
    from otel_eval.experiment import Experiment as Experiment
    from otel_eval.experiment import ExperimentRunner as ExperimentRunner
    from otel_eval.experiment import Gate as Gate
    from otel_eval.experiment import GateResult as GateResult
    from otel_eval.experiment import InProcess as InProcess
    from otel_eval.experiment import OverOtlp as OverOtlp
    from otel_eval.experiment import Report as Report
    from otel_eval.experiment import all_cases_should_pass as all_cases_should_pass
    from otel_eval.experiment import current_attempt as current_attempt
    from otel_eval.experiment import pass_rate_should_be_at_least as pass_rate_should_be_at_least
    from otel_eval.experiment import target_should_not_fail as target_should_not_fail
    from otel_eval.interaction import Gap as Gap
    from otel_eval.interaction import GapKind as GapKind
    from otel_eval.interaction import Interaction as Interaction
    from otel_eval.interaction import ToolCall as ToolCall
    from otel_eval.judges import Judge as Judge
    from otel_eval.judges import ModelJudge as ModelJudge
    from otel_eval.judges import completing as completing
    from otel_eval.ledger import Ledger as Ledger
    from otel_eval.outcome import Cause as Cause
    from otel_eval.outcome import Errored as Errored
    from otel_eval.outcome import Evaluation as Evaluation
    from otel_eval.outcome import Failed as Failed
    from otel_eval.outcome import Inconclusive as Inconclusive
    from otel_eval.outcome import Outcome as Outcome
    from otel_eval.outcome import Passed as Passed
    from otel_eval.outcome import Verdict as Verdict

_MODULES = {
    "otel_eval.config": ("ConfigError", "load_evaluators"),
    "otel_eval.evaluators.budgets": (
        "should_make_at_most_model_calls",
        "should_make_at_most_tool_calls",
        "should_reply_within",
        "should_use_at_most_tokens",
    ),
    "otel_eval.evaluators.contract": ("EvaluationContext", "Evaluator"),
    "otel_eval.evaluators.criterion": ("JudgeEvaluator", "should_satisfy", "should_score_at_least"),
    "otel_eval.evaluators.custom": ("evaluator",),
    "otel_eval.evaluators.failures": ("should_not_fail",),
    "otel_eval.evaluators.label_judge": ("LabelJudge", "hallucination", "label_judge", "summarization", "toxicity"),
    "otel_eval.evaluators.reply_json": ("reply_should_be_json",),
    "otel_eval.evaluators.reply_numbers": (
        "reply_should_not_contain_luhn_number",
        "reply_should_not_contain_payment_card",
    ),
    "otel_eval.evaluators.reply_text": (
        "reply_should_contain",
        "reply_should_match",
        "reply_should_not_contain",
        "reply_should_not_match",
    ),
    "otel_eval.evaluators.tool_values": ("should_call_tool_with", "tool_result_should_contain"),
    "otel_eval.evaluators.tools": (
        "should_call_tool",
        "should_call_tools",
        "should_call_tools_in_order",
        "should_not_call_tool",
        "should_not_call_tools",
        "tools_should_not_fail",
    ),
    "otel_eval.experiment": (
        "EvalCase",
        "Experiment",
        "ExperimentRunner",
        "Gate",
        "GateResult",
        "InProcess",
        "OverOtlp",
        "Report",
        "all_cases_should_pass",
        "current_attempt",
        "pass_rate_should_be_at_least",
        "target_should_not_fail",
    ),
    "otel_eval.interaction": ("Gap", "GapKind", "Interaction", "ToolCall"),
    "otel_eval.judges": ("Judge", "ModelJudge", "completing"),
    "otel_eval.ledger": ("Ledger",),
    "otel_eval.outcome": ("Cause", "Errored", "Evaluation", "Failed", "Inconclusive", "Outcome", "Passed", "Verdict"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOME)


if not TYPE_CHECKING:  # a type checker that saw it would take every misspelt name for an object

    def __getattr__(name: str) -> object:
        home = _HOME.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
