"""Operations: whether otel-eval keeps up, what it leaves out, and whether its verdicts get out."""

from __future__ import annotations

import panels
from grafana_foundation_sdk.builders import dashboard
from panels import Query


def or_none(expression: str, label: str) -> str:
    """What normally does not happen is a line at 0 called "none", rather than "no data", which would look like an outage."""
    return f'{expression} > 0 or label_replace(vector(0), "{label}", "none", "", "")'


def per_second(metric: str, *labels: str) -> str:
    """The rate of a counter, by labels."""
    return f'sum by ({", ".join(labels)}) (rate({metric}{{instance=~"$instance"}}[$__rate_interval]))'


def build() -> dashboard.Dashboard:
    """The dashboard, ready to be written."""
    instance = panels.choice(
        "instance",
        "Replica",
        "service.instance.id of otel-eval.",
        "label_values(otel_eval_backlog_evaluations, instance)",
    )
    frame = panels.framed(
        "otel-eval-operations",
        "otel-eval / Operations",
        "Ingest, backlog, drops, outbox and judges of otel-eval itself.",
        instance,
    )
    for panel in (
        panels.lines(
            "Spans received",
            "Spans per second that were acknowledged, that is: are in the journal.",
            "ops",
            Query(expression=per_second("otel_eval_spans_received_total", "instance"), legend="{{instance}}"),
        ),
        panels.lines(
            "Log records received",
            "Log records per second that were acknowledged.",
            "ops",
            Query(
                expression=or_none(per_second("otel_eval_logs_received_total", "instance"), "instance"),
                legend="{{instance}}",
            ),
        ),
        panels.lines(
            "Left out or refused",
            "Spans and log records that were not taken, and requests that were refused whole, per second and by reason. "
            "Refused for want of room is backpressure: the sender tries again.",
            "ops",
            Query(
                expression=or_none(per_second("otel_eval_spans_dropped_total", "otel_eval_reason"), "otel_eval_reason"),
                legend="spans: {{otel_eval_reason}}",
            ),
            Query(
                expression=or_none(per_second("otel_eval_logs_dropped_total", "otel_eval_reason"), "otel_eval_reason"),
                legend="log records: {{otel_eval_reason}}",
            ),
            Query(
                expression=or_none(
                    per_second("otel_eval_requests_refused_total", "otel_eval_reason"), "otel_eval_reason"
                ),
                legend="requests: {{otel_eval_reason}}",
            ),
            width=12,
        ),
        panels.lines(
            "Interactions by what became of them",
            'Put together per second. "not bound": no evaluator judges this agent; "sampled out": sampling_ratio left it out.',
            "ops",
            Query(
                expression="sum by (otel_eval_disposition) (rate(otel_eval_interactions_total[$__rate_interval]))",
                legend="{{otel_eval_disposition}}",
            ),
            stacked=True,
        ),
        panels.lines(
            "Backlog",
            "Evaluations that wait for their turn behind a judge's limits.",
            "short",
            Query(
                expression='max by (instance) (otel_eval_backlog_evaluations{instance=~"$instance"})',
                legend="{{instance}}",
            ),
            width=8,
        ),
        panels.lines(
            "Age of the backlog",
            "How long the oldest of them has waited. OtelEvalBacklogOld fires at ten minutes.",
            "s",
            Query(
                expression='max by (instance) (otel_eval_backlog_age_seconds{instance=~"$instance"})',
                legend="{{instance}}",
            ),
            width=8,
        ),
        panels.lines(
            "Outbox",
            "Verdicts that are stored but have not got out. Falls back to 0 when the endpoint answers.",
            "short",
            Query(
                expression='max by (instance) (otel_eval_outbox_evaluations{instance=~"$instance"})',
                legend="{{instance}}",
            ),
            width=8,
        ),
        panels.lines(
            "Journal",
            "Acknowledged telemetry that is not yet put together. At its limit, senders are asked to wait.",
            "bytes",
            Query(
                expression='max by (instance) (otel_eval_journal_bytes{instance=~"$instance"})', legend="{{instance}}"
            ),
            width=8,
        ),
        panels.lines(
            "Judge tokens",
            "Tokens per second that judges used, by model and direction.",
            "short",
            Query(
                expression=or_none(
                    per_second("otel_eval_judge_tokens_total", "gen_ai_request_model", "gen_ai_token_type"),
                    "gen_ai_request_model",
                ),
                legend="{{gen_ai_request_model}} {{gen_ai_token_type}}",
            ),
            width=8,
        ),
        panels.lines(
            "Judge cost",
            "US dollars per hour, by model, where a price is known.",
            "currencyUSD",
            Query(
                expression=or_none(
                    per_second("otel_eval_judge_cost_total", "gen_ai_request_model") + " * 3600", "gen_ai_request_model"
                ),
                legend="{{gen_ai_request_model}}",
            ),
            width=8,
        ),
        panels.lines(
            "Judges paused",
            "1 while a model is paused because its provider is down or refuses us; its evaluations wait.",
            "short",
            Query(
                expression=or_none(
                    'max by (gen_ai_request_model) (otel_eval_judge_paused{instance=~"$instance"})',
                    "gen_ai_request_model",
                ),
                legend="{{gen_ai_request_model}}",
            ),
            width=8,
        ),
        panels.lines(
            "Restarts of the judging process",
            "How often it died and was started again, in an hour. Telemetry is taken meanwhile, and nothing is lost.",
            "short",
            Query(
                expression='sum by (instance) (increase(otel_eval_judging_restarts_total{instance=~"$instance"}[1h]))',
                legend="{{instance}}",
            ),
            width=8,
        ),
        panels.lines(
            "Label values over their bound",
            'Measurements per second that were counted under "other", by label: something makes a name for each request.',
            "ops",
            Query(
                expression=or_none(
                    per_second("otel_eval_labels_overflowed_total", "otel_eval_label"), "otel_eval_label"
                ),
                legend="{{otel_eval_label}}",
            ),
            width=8,
        ),
    ):
        frame = frame.with_panel(panel)
    return frame
