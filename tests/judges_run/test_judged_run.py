"""A few hundred judged Interactions, with a model that fails at random, a stop and a kill amid them."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_eval.outcome import Cause, Evaluation
from tests.judges_run.proofs import findings
from tests.judges_run.run import Plan, judged_run


@pytest.mark.timeout(300)
async def test_every_verdict_is_the_models_and_every_cent_is_counted(tmp_path: Path) -> None:
    """One record for each binding, no verdict invented, true causes, and the bill; ``python -m tests.judges_run`` is the
    same at length."""
    run = await judged_run(
        tmp_path, Plan(interactions=150, seed=20, patience=120, timeout=4.0, max_retries=1, max_wait=8.0)
    )
    assert findings(run) == []
    causes = {record.outcome.cause for record in run.records if not isinstance(record.outcome, Evaluation)}
    assert causes >= {Cause.JUDGE_ANSWER_UNUSABLE, Cause.JUDGE_TIMEOUT, Cause.JUDGE_UNAVAILABLE}
