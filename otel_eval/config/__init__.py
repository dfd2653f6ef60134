"""The configuration: one YAML file, read into frozen models, with every mistake reported at once.

:func:`load` reads a file, :func:`parse` a text or a mapping, :func:`load_evaluators` builds the evaluators of a file.
"""

from __future__ import annotations

from otel_eval.config.bindings import Binding, EvaluatorEntry, Role
from otel_eval.config.build import build_evaluators, build_judges, load_evaluators, missing_judge_models
from otel_eval.config.errors import ConfigError, Mistake
from otel_eval.config.judging import JudgeModel
from otel_eval.config.load import load, parse
from otel_eval.config.model import Config

__all__ = [
    "Binding",
    "Config",
    "ConfigError",
    "EvaluatorEntry",
    "JudgeModel",
    "Mistake",
    "Role",
    "build_evaluators",
    "build_judges",
    "load",
    "load_evaluators",
    "missing_judge_models",
    "parse",
]
