"""A budget that is spent and a model that is down, with the real server, stopped and started again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import yaml

from otel_eval.ledger import Ledger
from otel_eval.outcome import Cause, Evaluation
from otel_eval.record import EvaluationRecord
from otel_eval.testing.scripted_model import Answer, ScriptedModel
from otel_eval.testing.sink import Sink
from tests.judges_run.run import Plan, ended, send, write_config
from tests.judges_run.script import CRITERION, LABEL
from tests.server.process import serving

PLAN = Plan(interactions=0, concurrency=1, max_retries=0)
VERDICT = Answer(
    text='{"reason": "it does", "score": 0.9, "explanation": "it is", "label": "non-toxic"}',
    input_tokens=900,
    output_tokens=100,
)


def stored(directory: Path) -> tuple[EvaluationRecord, ...]:
    """All records, once the server is gone."""
    with Ledger.open(f"sqlite:///{directory / 'data' / 'ledger.db'}", create=False) as ledger:
        return tuple(ledger.records())


def with_budgets(config: Path) -> Path:
    """Dollars for the criterion judge's model, tokens for the label judge's; both allow five calls."""
    sections = yaml.safe_load(config.read_text())
    default = sections["judge_models"]["default"]
    limited = {key: value for key, value in default.items() if key != "daily_budget_usd"}
    sections["judge_models"] = {
        "default": {**default, "daily_budget_usd": 0.0065},
        "other": {**limited, "daily_budget_tokens": 5000},
    }
    sections["evaluators"][LABEL]["judge_model"] = "other"
    config.write_text(yaml.safe_dump(sections))
    return config


async def test_daily_budgets_survive_a_kill(tmp_path: Path) -> None:
    """Three calls each before the kill, two after it; the rest of the day is inconclusive, and nobody is asked."""
    async with Sink() as sink, ScriptedModel(VERDICT) as model:
        config = with_budgets(write_config(tmp_path, PLAN, model, sink))
        async with serving(config) as server:
            await send(server, range(3), {})
            await ended(sink, 6, 100)
            await server.kill()
        async with serving(config) as server:
            await send(server, range(3, 9), {})
            await ended(sink, 18, 100)
            await server.terminate()
        assert model.billed.calls == 10
    causes = Counter(
        (record.evaluator, None if isinstance(record.outcome, Evaluation) else record.outcome.cause)
        for record in stored(tmp_path)
    )
    assert causes == {
        (CRITERION, None): 5, (CRITERION, Cause.BUDGET_SPENT): 4, (LABEL, None): 5, (LABEL, Cause.BUDGET_SPENT): 4,
    }  # fmt: skip


async def test_the_backlog_of_a_model_that_is_down_outlives_a_restart(tmp_path: Path) -> None:
    """Nothing is judged, and nothing ends, while the provider cannot be reached; back again, it answers for all."""
    async with Sink() as sink, ScriptedModel(VERDICT) as model:
        config = write_config(
            tmp_path, Plan(interactions=0, max_retries=0, max_wait=600), model, sink, only_criterion=True
        )
        model.stop()
        async with serving(config) as server:
            await send(server, range(4), {})
            await sink.wait_for(lambda sink: any(point.name == "otel_eval.judge.paused" and point.value == 1
                                                 for point in sink.metrics), timeout=60)  # fmt: skip
            assert await server.terminate() == 0
        assert stored(tmp_path) == ()
        model.start()
        async with serving(config) as server:
            await ended(sink, 4, 60)
            await server.terminate()
    assert {record.outcome.name for record in stored(tmp_path)} == {"passed"}


async def test_what_waits_longer_than_max_wait_ends_inconclusive(tmp_path: Path) -> None:
    """With the provider's own words, and its cause."""
    async with Sink() as sink, ScriptedModel(VERDICT) as model:
        config = write_config(
            tmp_path, Plan(interactions=0, max_retries=0, max_wait=2), model, sink, only_criterion=True
        )
        model.stop()
        async with serving(config) as server:
            await send(server, range(2), {})
            await ended(sink, 2, 60)
            await server.terminate()
    records = stored(tmp_path)
    assert [record.outcome.cause for record in records if not isinstance(record.outcome, Evaluation)] == [
        Cause.JUDGE_UNAVAILABLE
    ] * 2
    assert "was not available for 2s" in records[0].describe()
