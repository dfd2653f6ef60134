"""What the metrics say of records, from what storing them did: a live evaluation counts once, at its first verdict."""

from __future__ import annotations

from collections.abc import Iterable

from otel_eval.instruments import Recorder
from otel_eval.ledger.model import Change, Stored
from otel_eval.outcome import Evaluation
from otel_eval.record import EvaluationRecord, Origin

UNKNOWN = "unknown"


def count(recorder: Recorder, stored: Iterable[Stored]) -> None:
    """Count what a commit stored (``ledger.listening(partial(count, recorder))``).

    * new: ``evaluations``, its score and its duration; with origin ``rerun`` for a re-run, so that it moves no live rate;
    * revised: ``evaluation.revised`` alone, from and to; confirmed, stale and duplicate change nothing;
    * offline evaluations are nobody's production and are not counted;
    * tokens and cost of judges are counted for every record that was not there before: they were spent.
    """
    for one in stored:
        record = one.record
        if record.origin is Origin.OFFLINE or one.change is Change.DUPLICATE:
            continue
        _count_judges(recorder, record)
        if one.change is Change.NEW:
            _count_evaluation(recorder, record)
        elif one.change is Change.REVISED:
            labels = {
                "gen_ai.evaluation.name": record.evaluator,
                **_target(record),
                "otel_eval.outcome.from": one.previous or UNKNOWN,
                "otel_eval.outcome.to": record.outcome.name,
            }
            recorder.record("otel_eval.evaluation.revised", 1, labels, judged=_span(record))


def _count_evaluation(recorder: Recorder, record: EvaluationRecord) -> None:
    labels = {
        "gen_ai.evaluation.name": record.evaluator,
        "otel_eval.outcome": record.outcome.name,
        "otel_eval.origin": record.origin.value,
        **_target(record),
    }
    recorder.record("otel_eval.evaluations", 1, labels, judged=_span(record))
    seconds = max(0, record.ended_ns - record.started_ns) / 1e9
    recorder.record("otel_eval.evaluation.duration", seconds, labels, judged=_span(record))
    if isinstance(record.outcome, Evaluation) and record.outcome.score is not None:
        recorder.record("otel_eval.evaluation.score", record.outcome.score, labels, judged=_span(record))


def _count_judges(recorder: Recorder, record: EvaluationRecord) -> None:
    for call in record.judge_calls:
        model = {"gen_ai.request.model": call.requested_model}
        for kind, tokens in (("input", call.input_tokens), ("output", call.output_tokens)):
            if tokens:
                labels = {**model, "gen_ai.token.type": kind}
                recorder.record("otel_eval.judge.tokens", tokens, labels, judged=_span(record))
        if call.cost_usd:
            recorder.record("otel_eval.judge.cost", call.cost_usd, model, judged=_span(record))


def _target(record: EvaluationRecord) -> dict[str, str]:
    return {
        "gen_ai.agent.name": record.agent or UNKNOWN,
        "otel_eval.target.service": record.service or UNKNOWN,
        "otel_eval.target.environment": record.environment or UNKNOWN,
    }


def _span(record: EvaluationRecord) -> tuple[str, str]:
    return (record.trace_id, record.span_id)
