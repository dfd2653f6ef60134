"""What goes back out over OTLP: evaluation spans, ``gen_ai.evaluation.result`` events, metrics, and forwarded telemetry.

Importing the package imports no OpenTelemetry: ``placement``, ``settings`` and ``endpoints`` are plain Python, for the
stages that need to know where a span will be, what is configured, and whether an endpoint is ourselves.
"""
