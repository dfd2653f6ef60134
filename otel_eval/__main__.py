"""`python -m otel_eval` is `otel-eval`."""

from otel_eval.cli.main import main

main()
