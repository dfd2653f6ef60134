"""What runs between the journal and the dispatcher: telemetry is read, put together when it is complete, and let go."""

from otel_eval.pipeline.pipeline import Pipeline
from otel_eval.pipeline.relay import Relay

__all__ = ["Pipeline", "Relay"]
