"""Reports as JSON, in a published and versioned format: ``report-schema.json`` beside this module.

A reader takes every version up to its own and ignores keys that it does not know; sums (``summary``, ``evaluators``,
``cases``, ``spend``) are written for other programs and worked out again when read.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from otel_eval import interaction_json
from otel_eval.experiment.errors import UnreadableReport
from otel_eval.experiment.gates import GateResult
from otel_eval.experiment.report import Report
from otel_eval.experiment.results import Attempt, EvaluatorRef, Result, Status
from otel_eval.outcome import Cause, Errored, Evaluation, Failed, Inconclusive, Outcome, Passed
from otel_eval.record import JudgeCall

_SURROGATE = re.compile("[\ud800-\udfff]")
FORMAT = "otel-eval-report"
VERSION = 1


def schema() -> dict[str, Any]:
    """The JSON schema of the format."""
    text = resources.files("otel_eval.experiment").joinpath("report-schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def dump(report: Report) -> str:
    """The report as JSON text, indented."""
    text = json.dumps(to_dict(report), indent=2, ensure_ascii=False) + "\n"
    return _SURROGATE.sub("\ufffd", text)  # half a character, as a cut stream leaves it, is in no encoding


def to_dict(report: Report) -> dict[str, Any]:
    """The report as plain dicts, lists and scalars."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": report.name,
        "passed": report.passed,
        "gate": _gate(report.gate),
        "summary": {
            "attempts": len(report.attempts),
            **{status.value.lower(): report.count(status) for status in Status if status is not Status.INCONSISTENT},
        },
        "cases": [
            {"id": case.case_id, "status": case.status.value, "attempts": len(case.attempts), "passed": case.passed}
            for case in report.cases
        ],
        "evaluators": [_evaluator_summary(report, ref) for ref in report.evaluators],
        "spend": dataclasses.asdict(report.spend),
        "attempts": [_attempt(attempt) for attempt in report.attempts],
    }


def load(text: str | bytes) -> Report:
    """The report in that text. Raises UnreadableReport where it is none, or one of a newer format."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UnreadableReport(f"not a report: no JSON ({error})") from error
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise UnreadableReport(f'not a report: it lacks "format": "{FORMAT}"')
    if not isinstance(value.get("version"), int) or value["version"] > VERSION:
        raise UnreadableReport(
            f"a report of version {value.get('version')}; this otel-eval reads up to version {VERSION}"
        )
    try:
        return Report(
            name=value["name"],
            gate=_read_gate(value["gate"]),
            attempts=tuple(_read_attempt(attempt) for attempt in value["attempts"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableReport(f"not a report of version {value['version']}: {error!r}") from error


def _gate(gate: GateResult) -> dict[str, Any]:
    return {
        "gate": gate.gate,
        "passed": gate.passed,
        "decided": gate.decided,
        "detail": gate.detail,
        "warnings": list(gate.warnings),
        "parts": [_gate(part) for part in gate.parts],
    }


def _read_gate(value: Mapping[str, Any]) -> GateResult:
    return GateResult(
        gate=value["gate"],
        passed=value["passed"],
        decided=value["decided"],
        detail=value["detail"],
        warnings=tuple(value.get("warnings", ())),
        parts=tuple(_read_gate(part) for part in value.get("parts", ())),
    )


def _evaluator_summary(report: Report, ref: EvaluatorRef) -> dict[str, Any]:
    counted = report.tally(ref.id)
    return {**_ref(ref), **dataclasses.asdict(counted), "pass_rate": counted.rate, "coverage": counted.coverage}


def _ref(ref: EvaluatorRef) -> dict[str, Any]:
    return {"id": ref.id, "check": ref.check, "version": ref.version}


def _read_ref(value: Mapping[str, Any]) -> EvaluatorRef:
    return EvaluatorRef(id=value["id"], check=value["check"], version=value.get("version", ""))


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "case": attempt.case_id,
        "run": attempt.run,
        "status": attempt.status.value,
        "command": attempt.command,
        "reply": attempt.reply,
        "traced_reply": attempt.traced_reply,
        "session": attempt.session,
        "trace_id": attempt.trace_id,
        "notes": list(attempt.notes),
        "planned": [_ref(ref) for ref in attempt.planned],
        "results": [_result(result) for result in attempt.results],
        "interaction": None if attempt.interaction is None else interaction_json.to_json(attempt.interaction),
        "started_ns": attempt.started_ns,
        "ended_ns": attempt.ended_ns,
    }


def _read_attempt(value: Mapping[str, Any]) -> Attempt:
    interaction = value.get("interaction")
    return Attempt(
        case_id=value["case"],
        run=value["run"],
        command=value["command"],
        reply=value.get("reply"),
        traced_reply=value.get("traced_reply"),
        session=value.get("session", ""),
        trace_id=value.get("trace_id", ""),
        notes=tuple(value.get("notes", ())),
        planned=tuple(_read_ref(ref) for ref in value.get("planned", ())),
        results=tuple(_read_result(result) for result in value["results"]),
        interaction=None if interaction is None else interaction_json.from_json(interaction),
        started_ns=value.get("started_ns", 0),
        ended_ns=value.get("ended_ns", 0),
    )


def _result(result: Result) -> dict[str, Any]:
    return {
        "evaluator": _ref(result.evaluator),
        "description": result.describe(),
        **_outcome(result.outcome),
        "judge_calls": [dataclasses.asdict(call) for call in result.judge_calls],
        "started_ns": result.started_ns,
        "ended_ns": result.ended_ns,
    }


def _read_result(value: Mapping[str, Any]) -> Result:
    known = {field.name for field in dataclasses.fields(JudgeCall)}
    calls = value.get("judge_calls", ())
    return Result(
        evaluator=_read_ref(value["evaluator"]),
        outcome=_read_outcome(value),
        judge_calls=tuple(JudgeCall(**{key: call[key] for key in call if key in known}) for call in calls),
        started_ns=value.get("started_ns", 0),
        ended_ns=value.get("ended_ns", 0),
    )


def _outcome(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Evaluation):
        return {
            "outcome": outcome.name,
            "explanation": outcome.explanation,
            "score": outcome.score,
            "label": outcome.label,
            "attributes": dict(outcome.attributes),
        }
    told = {"outcome": outcome.name, "reason": outcome.reason, "cause": outcome.cause.value}
    return {**told, "error_type": outcome.error_type} if isinstance(outcome, Errored) else told


def _read_outcome(value: Mapping[str, Any]) -> Outcome:
    kind = value["outcome"]
    if kind in (Passed.name, Failed.name):
        return (Passed if kind == Passed.name else Failed)(
            explanation=value["explanation"],
            score=value.get("score"),
            label=value.get("label"),
            attributes=dict(value.get("attributes") or {}),
        )
    if kind == Inconclusive.name:
        return Inconclusive(reason=value["reason"], cause=_cause(value))
    if kind == Errored.name:
        return Errored(reason=value["reason"], error_type=value.get("error_type", "error"), cause=_cause(value))
    raise ValueError(f"no outcome is called {kind!r}")


def _cause(value: Mapping[str, Any]) -> Cause:
    return next((cause for cause in Cause if cause == value.get("cause")), Cause.OTHER)
