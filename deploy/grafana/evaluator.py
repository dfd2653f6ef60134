"""One evaluator: how its scores lie, why it has no verdict, how long it takes and what it costs."""

from __future__ import annotations

import panels
from grafana_foundation_sdk.builders import dashboard
from panels import EVALUATION, LIVE, Query

CONCLUSIVE = f"sum(otel_eval:conclusive:increase${{window}}{{{EVALUATION}}})"
PASSED = (
    f"otel_eval:pass_rate:ratio${{window}}{{{EVALUATION}}} * otel_eval:conclusive:increase${{window}}{{{EVALUATION}}}"
)
WITHOUT = f"otel_eval_evaluation_without_verdict_total{{{LIVE}}}"


def quantile(share: float) -> Query:
    """A quantile of the duration; its exemplars lead to the judged traces."""
    return Query(
        expression=f"histogram_quantile({share}, sum by (le) (rate(otel_eval_evaluation_duration_seconds_bucket{{{LIVE}}}[$__rate_interval])))",
        legend=f"p{share * 100:g}",
        exemplars=True,
    )


def build() -> dashboard.Dashboard:
    """The dashboard, ready to be written."""
    evaluator = panels.choice(
        "evaluator",
        "Evaluator",
        "gen_ai.evaluation.name.",
        "label_values(otel_eval_evaluations_total, gen_ai_evaluation_name)",
        many=False,
    )
    frame = panels.framed(
        "otel-eval-evaluator",
        "otel-eval / Evaluator",
        "One evaluator: scores, reasons, latency and cost.",
        evaluator,
        *panels.whom(),
        panels.window(),
    )
    for panel in (
        panels.band(
            "Pass rate with its confidence band",
            "Over the chosen window, between its Wilson bounds (95 % on each side), and the evaluator's floor.",
            f"sum({PASSED}) / {CONCLUSIVE}",
            CONCLUSIVE,
            'max(otel_eval:floor:pass_rate{gen_ai_evaluation_name=~"$evaluator"})',
        ),
        panels.lines(
            "Pass rate by agent",
            "Which of the agents it judges fails it.",
            "percentunit",
            Query(expression=f"otel_eval:pass_rate:ratio${{window}}{{{EVALUATION}}}", legend="{{gen_ai_agent_name}}"),
            width=8,
        )
        .min(0)
        .max(1),
        panels.heat(
            "Score distribution",
            "Scores from 0 to 1 over time. A judge that gives only two values, or one, is visible here. Exemplars lead to traces.",
            "percentunit",
            Query(
                expression=f"sum by (le) (increase(otel_eval_evaluation_score_bucket{{{LIVE}}}[$__rate_interval]))",
                legend="{{le}}",
                exemplars=True,
                heatmap=True,
            ),
        ),
        panels.lines(
            "Mean score",
            "The mean of the scores, by outcome: how far from the threshold passes and failures are.",
            "percentunit",
            Query(
                expression=f"sum by (otel_eval_outcome) (increase(otel_eval_evaluation_score_sum{{{LIVE}}}[$window]))"
                f" / (sum by (otel_eval_outcome) (increase(otel_eval_evaluation_score_count{{{LIVE}}}[$window])) > 0)",
                legend="{{otel_eval_outcome}}",
            ),
        )
        .min(0)
        .max(1),
        panels.lines(
            "Outcomes",
            "What became of its live evaluations. Exemplars lead to the traces that were judged.",
            "short",
            Query(
                expression=f"sum by (otel_eval_outcome) (increase(otel_eval_evaluations_total{{{LIVE}}}[$__rate_interval]))",
                legend="{{otel_eval_outcome}}",
                exemplars=True,
            ),
            stacked=True,
        ),
        panels.bars(
            "Reasons for no verdict",
            "Why evaluations of the chosen window ended inconclusive or in error. not_captured and redacted: the telemetry lacks "
            "the content; judge_*: the judge.",
            "short",
            Query(
                expression=f"sum by (otel_eval_reason) (increase({WITHOUT}[$window])) > 0 or label_replace(vector(0), "
                '"otel_eval_reason", "none", "", "")',
                legend="{{otel_eval_reason}}",
                instant=True,
            ),
            width=12,
        ),
        panels.lines(
            "Duration",
            "How long an evaluation takes, waiting for its turn not included. Exemplars lead to traces.",
            "s",
            quantile(0.5),
            quantile(0.95),
            width=8,
        ),
        panels.lines(
            "Cost",
            "What its judge's calls cost per hour, where a price is known; re-runs included. An exact evaluator costs nothing.",
            "currencyUSD",
            Query(
                expression=f"sum by (gen_ai_agent_name) (rate(otel_eval_evaluation_cost_total{{{EVALUATION}}}[$window])) * 3600"
                ' or label_replace(vector(0), "gen_ai_agent_name", "none", "", "")',
                legend="{{gen_ai_agent_name}}",
            ),
            width=8,
        ),
        panels.lines(
            "Revised",
            "Verdicts that changed because late telemetry changed the Interaction.",
            "short",
            Query(
                expression="sum by (otel_eval_outcome_from, otel_eval_outcome_to) "
                f"(increase(otel_eval_evaluation_revised_total{{{EVALUATION}}}[$window]))"
                ' or label_replace(vector(0), "otel_eval_outcome_from", "none", "", "")',
                legend="{{otel_eval_outcome_from}} {{otel_eval_outcome_to}}",
            ),
            width=8,
        ),
    ):
        frame = frame.with_panel(panel)
    return frame
