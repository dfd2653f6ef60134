"""Experiments and gates: the same evaluators in tests and in CI.

An experiment puts cases to an agent, reads the Interactions from the telemetry that the agent really emitted, has the
evaluators judge them, and lets a gate decide. Light to import: the OpenTelemetry SDK is imported when an experiment runs.

A *case* is run one or several times; each run is an *attempt*. An attempt has *results*, one for each evaluator, or one of
the experiment's own: ``target`` (the agent raised), ``setup`` (the attempt could not be prepared, or its reply not read),
``telemetry`` (nothing was seen of the agent).
"""

from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.current import CurrentAttempt, current_attempt
from otel_eval.experiment.errors import (
    EventLoopRunning,
    ExperimentError,
    GateNotPassed,
    InvalidExperiment,
    UnreadableReport,
)
from otel_eval.experiment.experiment import Experiment, ExperimentRunner
from otel_eval.experiment.gates import (
    Gate,
    GateResult,
    all_cases_should_pass,
    pass_rate_should_be_at_least,
    target_should_not_fail,
)
from otel_eval.experiment.report import Report
from otel_eval.experiment.results import Attempt, CaseSummary, EvaluatorRef, Result, Status, Tally
from otel_eval.experiment.spend import Spend
from otel_eval.experiment.telemetry import InProcess
from otel_eval.experiment.wire import OverOtlp

__all__ = [
    "Attempt",
    "CaseSummary",
    "CurrentAttempt",
    "EvalCase",
    "EvaluatorRef",
    "EventLoopRunning",
    "Experiment",
    "ExperimentError",
    "ExperimentRunner",
    "Gate",
    "GateNotPassed",
    "GateResult",
    "InProcess",
    "InvalidExperiment",
    "OverOtlp",
    "Report",
    "Result",
    "Spend",
    "Status",
    "Tally",
    "UnreadableReport",
    "all_cases_should_pass",
    "current_attempt",
    "pass_rate_should_be_at_least",
    "target_should_not_fail",
]
