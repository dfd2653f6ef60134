"""What evaluators may rely on beside the Interaction, wherever they judge."""

import pytest

from experiment.agents import Shop
from otel_eval.config import parse
from otel_eval.evaluators.contract import EvaluationContext
from otel_eval.evaluators.custom import evaluator
from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.experiment import Experiment
from otel_eval.experiment.offline import judge
from otel_eval.experiment.plan import Configured
from otel_eval.interaction import Interaction
from otel_eval.judges import Judges
from otel_eval.ledger import Ledger
from otel_eval.outcome import Failed, Passed
from otel_eval.testing.interactions import interaction

CONFIG = parse({
    "judge_models": {"default": {"model": "p/of-the-file"}},
    "evaluators": {"looks-up": {"use": "experiment.test_context:looks_up", "agents": ["*"]}},
})  # fmt: skip


@evaluator(check="looks-up")
def looks_up(interaction: Interaction, context: EvaluationContext):
    """As one that works in a server: reads what the ledger holds of this Interaction, and names a model."""
    itself = context.ledger.interaction(interaction.id) == interaction
    before = context.ledger.evaluations(interaction.id)
    model = context.judges.settings("default").model
    try:
        context.ledger.interaction("nobody")
    except KeyError:
        return (Passed if itself and not before else Failed)(model)
    return Failed("found what is not there")


@evaluator(check="sub-agents")
def finds_its_caller(interaction: Interaction, context: EvaluationContext):
    """Judges the Interaction that this one was called by."""
    assert interaction.parent_id is not None
    return Passed(context.ledger.interaction(interaction.parent_id).agent or "")


@pytest.mark.parametrize(("config", "model"), [(None, "default"), (CONFIG, "p/of-the-file")])
def test_an_experiments_evaluators_have_judges_and_a_ledger(config, model):
    """With a configuration its judges, without one those that know litellm's names alone; the ledger has the attempt's."""
    shop = Shop()
    report = Experiment(
        cases=[EvalCase("order", "Where is o_9?", looks_up)], agent=shop, telemetry=shop.telemetry, config=config
    ).run()
    assert [result.describe() for result in report.results] == [f"PASS looks-up: {model}"] * len(report.results)


async def test_evaluators_over_recordings_have_judges_and_a_ledger():
    """Of all Interactions of the recordings: a sub-agent's evaluator finds the one that called it."""
    top = interaction(agent="boss")
    below = interaction(agent="helper", parent_id=top.id)
    config = parse({
        "evaluators": {
            "looks-up": {"use": "experiment.test_context:looks_up", "agents": ["boss"]},
            "caller": {"use": "experiment.test_context:finds_its_caller", "agents": ["helper"]},
        }
    })  # fmt: skip
    found = [records async for _, records, _ in judge([top, below], Configured.of(config))]
    assert [record.describe() for records in found for record in records] == [
        "PASS looks-up: default", "PASS sub-agents: boss",
    ]  # fmt: skip


async def test_a_context_made_by_hand_has_a_ledger_without_anything():
    """An evaluator can be called in a test with no more than two ids; what it looks up is not there."""
    context = EvaluationContext(evaluation_id="e", evaluator_id="looks-up")
    with pytest.raises(KeyError):
        context.ledger.interaction("x")
    assert context.ledger.evaluations("x") == ()


async def test_a_ledger_is_what_contexts_promise(tmp_path):
    """The two calls of the promise, by position, on a real one."""
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        context = EvaluationContext(evaluation_id="e", evaluator_id="x", ledger=ledger, judges=Judges())
        with pytest.raises(KeyError):
            context.ledger.interaction("x")
        assert context.ledger.evaluations("x") == ()
