"""What goes wrong with an experiment itself, as opposed to with the agent or an evaluator under it.

::

    ExperimentError
    ├── InvalidExperiment   (also a ValueError): cases, gates or settings that make no sense
    ├── EventLoopRunning    (also a RuntimeError): run() where run_async() is needed
    ├── UnreadableReport    (also a ValueError): a file that is no report, or of a newer format
    └── GateNotPassed       (also an AssertionError): what a test raises
"""

from __future__ import annotations

import math


class ExperimentError(Exception):
    """The root of this area's errors."""


class InvalidExperiment(ExperimentError, ValueError):
    """Cases, gates or settings that make no sense; the message says which and what is allowed."""


class EventLoopRunning(ExperimentError, RuntimeError):
    """``run()`` was called where an event loop runs already."""


class UnreadableReport(ExperimentError, ValueError):
    """A text that is not a report, or one of a newer format."""


class GateNotPassed(ExperimentError, AssertionError):
    """An experiment's gate did not pass; the message is the report."""


def check_seconds(name: str, value: object) -> None:
    """Raises InvalidExperiment for what is no time that something could be waited for."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InvalidExperiment(f"{name} is a number of seconds above 0, not {value!r}")
