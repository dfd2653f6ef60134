"""What holds for all tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No deadline, and no complaint of slow drawing: a shared machine is slow for reasons that no test is about. In CI the examples are the same every time, so
# that a change is blamed for what it did; everywhere else they are drawn anew.
settings.register_profile(
    "otel-eval",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("otel-eval")
