"""What the tests of evaluators share."""

from __future__ import annotations

import pytest

from otel_eval.evaluators.contract import EvaluationContext


@pytest.fixture
def context() -> EvaluationContext:
    """A context without a case, judges or a ledger, which no exact evaluator needs."""
    return EvaluationContext(evaluation_id="0" * 32, evaluator_id="under-test")
