"""Overview: how good the agents are, how much of what they do is judged, and where to look next."""

from __future__ import annotations

import panels
from grafana_foundation_sdk.builders import dashboard
from panels import EVALUATION, LIVE, TARGET, Query

CONCLUSIVE = f"sum(otel_eval:conclusive:increase${{window}}{{{EVALUATION}}})"
PASSED = (
    f"otel_eval:pass_rate:ratio${{window}}{{{EVALUATION}}} * otel_eval:conclusive:increase${{window}}{{{EVALUATION}}}"
)
RATE = f"sum({PASSED}) / {CONCLUSIVE}"
COVERAGE = f"{CONCLUSIVE} / sum(otel_eval:ended:increase${{window}}{{{EVALUATION}}})"
FLOOR = 'max(otel_eval:floor:pass_rate{gen_ai_evaluation_name=~"$evaluator"})'


def rate_by(*labels: str) -> str:
    """The pass rate of whatever has the same labels."""
    by = ", ".join(labels)
    return f"sum by ({by}) ({PASSED}) / sum by ({by}) (otel_eval:conclusive:increase${{window}}{{{EVALUATION}}})"


def build() -> dashboard.Dashboard:
    """The dashboard, ready to be written."""
    evaluator = panels.choice(
        "evaluator",
        "Evaluator",
        "gen_ai.evaluation.name.",
        "label_values(otel_eval_evaluations_total, gen_ai_evaluation_name)",
    )
    frame = panels.framed(
        "otel-eval-overview",
        "otel-eval / Overview",
        "Pass rates of agents as their telemetry shows them, with the evidence behind each.",
        *panels.whom(),
        evaluator,
        panels.window(),
    )
    quality = [(None, "red"), (0.8, "yellow"), (0.9, "green")]
    for panel in (
        panels.number(
            "Pass rate",
            "Passed of those that passed or failed, over the chosen window.",
            "percentunit",
            RATE,
            steps=quality,
        ),
        panels.number(
            "Coverage",
            "Passed or failed, of all evaluations that ended. Where it is low, the pass rate speaks for a minority.",
            "percentunit",
            COVERAGE,
            steps=[(None, "red"), (0.5, "yellow"), (0.8, "green")],
        ),
        panels.number(
            "Evaluations",
            "Live evaluations that ended in the chosen window, of all four outcomes.",
            "short",
            f"sum(otel_eval:ended:increase${{window}}{{{EVALUATION}}})",
        ),
        panels.number(
            "Interactions",
            "Invocations of agents that were put together in the chosen window, judged or not.",
            "short",
            f"sum(increase(otel_eval_interactions_total{{{TARGET}}}[$window]))",
        ),
        panels.number(
            "Failed Interactions",
            "Invocations that failed by themselves (an exception, a model that did not answer), whatever was judged.",
            "percentunit",
            f'(sum(increase(otel_eval_interactions_total{{{TARGET}, otel_eval_failed="true"}}[$window])) or vector(0))'
            f" / sum(increase(otel_eval_interactions_total{{{TARGET}}}[$window]))",
            steps=[(None, "green"), (0.05, "yellow"), (0.2, "red")],
        ),
        panels.number(
            "Alerts firing",
            "Alerts of deploy/prometheus/rules/alerts.yaml; docs/alerts.md says what to do about each.",
            "short",
            'count(ALERTS{alertname=~"OtelEval.+", alertstate="firing"}) or vector(0)',
            steps=[(None, "green"), (1, "red")],
        ),
        panels.band(
            "Pass rate with its confidence band",
            "The rate of everything chosen above, between its Wilson bounds (95 % on each side): few evaluations, a wide band. "
            "The floor is the highest of the chosen evaluators'.",
            RATE,
            CONCLUSIVE,
            FLOOR,
        ),
        panels.lines(
            "Coverage by evaluator",
            "Passed or failed, of all that ended. The rest is inconclusive (nothing to judge, no usable verdict) or in error.",
            "percentunit",
            Query(
                expression=f"sum by (gen_ai_evaluation_name) (otel_eval:conclusive:increase${{window}}{{{EVALUATION}}})"
                f" / sum by (gen_ai_evaluation_name) (otel_eval:ended:increase${{window}}{{{EVALUATION}}})",
                legend="{{gen_ai_evaluation_name}}",
            ),
            width=8,
        )
        .min(0)
        .max(1),
        panels.lines(
            "Pass rate by agent",
            "Which agent it is that gets worse, over everything chosen above.",
            "percentunit",
            Query(expression=rate_by("gen_ai_agent_name"), legend="{{gen_ai_agent_name}}"),
        )
        .min(0)
        .max(1),
        panels.lines(
            "Pass rate by evaluator",
            "What it is that they fail.",
            "percentunit",
            Query(expression=rate_by("gen_ai_evaluation_name"), legend="{{gen_ai_evaluation_name}}"),
        )
        .min(0)
        .max(1),
        panels.lines(
            "Outcomes",
            "Live evaluations that ended, by outcome. The points are exemplars: each leads to the trace that was judged.",
            "short",
            Query(
                expression=f"sum by (otel_eval_outcome) (increase(otel_eval_evaluations_total{{{LIVE}}}[$__rate_interval]))",
                legend="{{otel_eval_outcome}}",
                exemplars=True,
            ),
            width=24,
            stacked=True,
        ),
        panels.link(
            panels.grid(
                "By agent and evaluator",
                "Pass rate, its lower bound, coverage and the number of conclusive evaluations over the chosen window.",
                {
                    "Pass rate": (f"otel_eval:pass_rate:ratio${{window}}{{{EVALUATION}}}", "percentunit"),
                    "At least": (f"otel_eval:pass_rate_lower:ratio${{window}}{{{EVALUATION}}}", "percentunit"),
                    "Coverage": (f"otel_eval:coverage:ratio${{window}}{{{EVALUATION}}}", "percentunit"),
                    "Conclusive": (f"otel_eval:conclusive:increase${{window}}{{{EVALUATION}}}", "short"),
                },
                ["__name__"],
            ),
            "This evaluator",
            "/d/otel-eval-evaluator?var-evaluator=${__data.fields.gen_ai_evaluation_name}&${__url_time_range}",
        ),
    ):
        frame = frame.with_panel(panel)
    return frame
