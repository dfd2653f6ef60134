"""Our own gRPC service over the ledger (``proto/otel_eval/v1``): reading, following, and judging again.

Off by default, on a listener of its own with scopes of its own: who may send telemetry may not read conversations. It runs
where ledger and dispatcher are, in the judging process; while that is started again, clients find nobody and try again.
"""
