"""From completed Interactions to evaluation records: bindings, sampling, limits, the backlog.

:class:`Bindings` decides which evaluators judge an Interaction and says why the others do not. :class:`Dispatcher` stores
Interactions, runs exact evaluators at once and the others behind limits, and resumes after a crash.
"""

from __future__ import annotations

from otel_eval.dispatch.accepting import Accepted, Completed
from otel_eval.dispatch.bindings import Bindings, Decision, Reason
from otel_eval.dispatch.dispatcher import Dispatcher

__all__ = ["Accepted", "Bindings", "Completed", "Decision", "Dispatcher", "Reason"]
