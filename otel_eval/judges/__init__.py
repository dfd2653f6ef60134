"""Judges: how well an Interaction meets a criterion, decided by a function or by a model.

Light to import: litellm is imported when a model is first asked.
"""

from otel_eval.judges.budget import BudgetStore, MemoryBudget, Spent, SqliteBudget
from otel_eval.judges.completion import Complete, CompletionFunction, ModelAnswer, ModelRequest, completing
from otel_eval.judges.errors import (
    BudgetSpent,
    JudgeConfigError,
    JudgeError,
    JudgeTimeout,
    JudgeUnavailable,
    UnknownLabel,
    UnknownModel,
    UnusableAnswer,
)
from otel_eval.judges.judge import Judge
from otel_eval.judges.model_judge import ModelJudge
from otel_eval.judges.per_loop import (
    LoopJudges,
    close_judges_of_this_loop,
    judges_of_this_loop,
    using_judges_of_this_loop,
)
from otel_eval.judges.prices import price_known
from otel_eval.judges.prompts import DEFAULT_SYSTEM_MESSAGE, REPLY_FORMAT
from otel_eval.judges.registry import Judges
from otel_eval.judges.rendering import default_user_message
from otel_eval.judges.settings import JudgeModelSettings, Prices

__all__ = [
    "DEFAULT_SYSTEM_MESSAGE",
    "REPLY_FORMAT",
    "BudgetSpent",
    "BudgetStore",
    "Complete",
    "CompletionFunction",
    "Judge",
    "JudgeConfigError",
    "JudgeError",
    "JudgeModelSettings",
    "JudgeTimeout",
    "JudgeUnavailable",
    "Judges",
    "LoopJudges",
    "MemoryBudget",
    "ModelAnswer",
    "ModelJudge",
    "ModelRequest",
    "Prices",
    "Spent",
    "SqliteBudget",
    "UnknownLabel",
    "UnknownModel",
    "UnusableAnswer",
    "close_judges_of_this_loop",
    "completing",
    "default_user_message",
    "judges_of_this_loop",
    "price_known",
    "using_judges_of_this_loop",
]
