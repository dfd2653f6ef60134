"""The configuration that ``otel-eval init`` writes. Valid as it stands, and valid with every comment taken off its line."""

from __future__ import annotations

STARTER = """\
# What otel-eval receives, whom it judges and where verdicts go.
# Every key that is left out has a default; docs/configuration.md lists them all.
# Check this file with: otel-eval config check

receivers:
  otlp:
    grpc: {endpoint: 127.0.0.1:4317}
    http: {endpoint: 127.0.0.1:4318}

# Where verdicts go: your collector. Without it (and without OTEL_EXPORTER_OTLP_ENDPOINT) they stay in the ledger:
# otel-eval evaluations shows them.
#exporters:
#  otlp: {endpoint: "http://127.0.0.1:14317", protocol: grpc}

# The models that judges ask, as litellm names them. ${env:NAME} is read from the environment.
#judge_models:
#  default:
#    model: openai/gpt-4o-mini
#    api_key: "${env:OPENAI_API_KEY}"
#    max_concurrency: 8
#    requests_per_minute: 600
#    daily_budget_usd: 5

# Agents by what they are for, so that a binding need not name each.
#roles:
#  customer-facing: {agents: ["support-*", "sales-agent"]}

evaluators:
  # Exact checks ask no model and cost nothing.
  no-failure:
    check: should_not_fail
    agents: ["*"]                       # every agent; or names, or globs such as "support-*"
  tools-work:
    check: tools_should_not_fail
    agents: ["*"]
  no-card-numbers:
    check: reply_should_not_contain_payment_card
    agents: ["*"]
#  looks-up-the-order:
#    check: {should_call_tool: getOrder}
#    agents: [support-agent]
#  quick:
#    check: {should_reply_within: 20s}
#    agents: [support-agent]

  # Judges ask a model (judge_models above).
#  toxicity:
#    builtin: toxicity                  # or summarization, hallucination
#    agent_roles:
#      customer-facing: {sampling_ratio: 0.1}     # one in ten
#  refund-policy:
#    judge:
#      criterion: the reply states only what the tools returned
#      threshold: 0.7
#      requires: [tool_results]
#    agents: [support-agent]

# When an Interaction is complete. Raise settle_across_processes if spans of one trace come from slow exporters.
#completion: {settle: 2s, settle_across_processes: 7s, idle: 5m, max_age: 1h, late_window: 15m}

#storage: {directory: ./otel-eval-data}

# Reading the ledger over gRPC, and judging again (otel-eval rerun). Off without this; docs/api.md.
#api:
#  enabled: true
#  endpoint: 127.0.0.1:4319
#  auth:
#    tokens:
#      dashboards: {token: "${env:OTEL_EVAL_READ_TOKEN}", scopes: [read]}
#      operators: {token: "${env:OTEL_EVAL_API_TOKEN}", scopes: [read, evaluate]}
"""
