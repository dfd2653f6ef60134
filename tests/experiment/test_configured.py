import pytest

from experiment.agents import Shop
from otel_eval.config import ConfigError, parse
from otel_eval.config.build import load_evaluators
from otel_eval.evaluators.tools import should_call_tool
from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.experiment import Experiment
from otel_eval.experiment.results import Status
from otel_eval.outcome import Cause
from otel_eval.testing.models import verdict
from otel_eval.testing.scripted_model import Refusal, ScriptedModel

CONFIG = """
evaluators:
  looks-up-the-order:
    check: {should_call_tool: getOrder}
    agents: [shop]
  says-what-was-said:
    check: {reply_should_contain: you said}
    agents: {"sh*": {sampling_ratio: 0}}
  switched-off:
    check: should_not_fail
    agents: {shop: {enabled: false}}
  of-others:
    check: should_not_fail
    agents: [somebody-else]
"""


def run(shop, config, *evaluators):
    return Experiment(
        cases=[EvalCase("order", "Where is o_9?")], agent=shop, evaluators=evaluators, telemetry=shop.telemetry, config=config
    ).run()  # fmt: skip


def test_the_bindings_of_the_configuration_apply_by_agent_name(tmp_path):
    """What is bound to the agent judges every attempt, sampled or not; what is not bound or switched off does not."""
    path = tmp_path / "otel-eval.yaml"
    path.write_text(CONFIG)
    for config in (path, str(path), parse(CONFIG)):
        report = run(Shop(), config)
        assert [result.evaluator.id for result in report.results] == ["looks-up-the-order", "says-what-was-said"]
        assert report.passed


def test_evaluators_of_the_experiment_come_beside_those_of_the_configuration():
    """Both judge, the experiment's first."""
    report = run(Shop(), parse(CONFIG), should_call_tool("issueRefund"))
    assert [result.check for result in report.results] == ["tools", "tools", "reply-contains"]
    assert not report.passed


def test_load_evaluators_gives_them_for_any_agent(tmp_path):
    """The same evaluators, whatever they are bound to."""
    path = tmp_path / "otel-eval.yaml"
    path.write_text(CONFIG)
    shop = Shop()
    cases = [EvalCase("order", "Where is o_9?")]
    report = Experiment(cases=cases, agent=shop, evaluators=load_evaluators(path), telemetry=shop.telemetry).run()
    assert [result.evaluator.id for result in report.results] == [
        "looks-up-the-order", "says-what-was-said", "switched-off", "of-others",
    ]  # fmt: skip


BY_ATTRIBUTE = """
roles:
  gold: {attributes: {tenant.tier: gold}}
evaluators:
  for-gold:
    check: {reply_should_contain: you said}
    agent_roles: [gold]
"""


class TieredShop(Shop):
    """One whose spans say for which customers it works."""

    def __init__(self, tier):
        super().__init__()
        self.tier = tier

    def __call__(self, command):
        with self.invocation(command, f"You said: {command}") as span:
            span.set_attribute("tenant.tier", self.tier)
            span.set_attribute("not.asked.for", "x")
        return f"You said: {command}"


@pytest.mark.parametrize(("tier", "role", "judged"), [("gold", "gold", ["for-gold"]), ("silver", None, [])])
def test_roles_go_by_attributes_of_the_agents_span_as_they_do_live(tier, role, judged):
    """The attributes that roles ask for are on the Interaction, no others; the role binds, and is written on it."""
    report = run(TieredShop(tier), parse(BY_ATTRIBUTE))
    [attempt] = report.attempts
    assert [result.evaluator.id for result in attempt.results] == judged
    assert attempt.interaction.attributes == {"tenant.tier": tier}
    assert attempt.interaction.role == role


def test_mistakes_in_the_configuration_are_told_before_anything_runs():
    """ConfigError, as everywhere."""
    shop = Shop()
    with pytest.raises(ConfigError):
        run(shop, "there-is-no-such-file.yaml")
    assert shop.commands == []


def test_judges_of_the_configuration_ask_its_models():
    """A judged attempt spends what the report tells, through litellm and HTTP."""
    with ScriptedModel(verdict(0.9, "it repeats the question")) as model:
        config = parse({
            "judge_models": {"default": {"model": "openai/scripted", "api_base": model.base_url, "api_key": "none"}},
            "evaluators": {"repeats": {"judge": {"criterion": "the reply repeats the question"}, "agents": ["shop"]}},
        })  # fmt: skip
        report = run(Shop(), config)
    assert report.passed, report.render(color=False)
    assert report.results[0].describe() == (
        "PASS judge: the reply repeats the question: scored 0.90, needed 0.50 — it repeats the question"
    )
    assert report.spend.judge_calls == 1
    assert report.spend.judge_tokens == model.billed.input_tokens + model.billed.output_tokens


def test_a_judge_that_is_down_leaves_the_attempt_inconclusive():
    """A refused key is no verdict and no fault of the evaluator: the gate is undecided, and says that nothing was judged."""
    with ScriptedModel(Refusal(401, message="bad key")) as model:
        config = parse({
            "judge_models": {"default": {"model": "openai/scripted", "api_base": model.base_url, "api_key": "none"}},
            "evaluators": {"repeats": {"judge": {"criterion": "the reply repeats the question"}, "agents": ["shop"]}},
        })  # fmt: skip
        report = run(Shop(), config)
    assert report.attempts[0].status is Status.INCONCLUSIVE, report.render(color=False)
    assert report.results[0].outcome.cause is Cause.JUDGE_UNAVAILABLE
    assert not report.gate.decided
