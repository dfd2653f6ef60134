"""What ``load_evaluators`` gives takes the judges of its file along."""

import asyncio
from dataclasses import replace

import pytest

from experiment.agents import Shop
from otel_eval.config.build import load_evaluators
from otel_eval.evaluators.contract import EvaluationContext
from otel_eval.evaluators.custom import evaluator
from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.experiment import Experiment
from otel_eval.judges import Judges, LoopJudges, completing, using_judges_of_this_loop
from otel_eval.outcome import Cause, Passed
from otel_eval.testing.interactions import interaction
from otel_eval.testing.models import fixed, label, verdict
from otel_eval.testing.scripted_model import ScriptedModel

LIKE_A_PUBLIC_MODEL = "openai/gpt-4o-mini"


@evaluator(check="custom")
async def asks_by_context(interaction, context):
    """Says how the context's judges know the default model."""
    return Passed(context.judges.settings("default").model)


def loaded(tmp_path, text):
    path = tmp_path / "otel-eval.yaml"
    path.write_text(text)
    return load_evaluators(path)


def run(evaluators, shop=None, command="Where is o_9?"):
    shop = Shop() if shop is None else shop
    cases = [EvalCase("order", command)]
    return Experiment(cases=cases, agent=shop, evaluators=evaluators, telemetry=shop.telemetry).run()


def by_hand(judge, reply="Refunded to C-12345."):
    context = EvaluationContext(evaluation_id="e", evaluator_id=judge.id)
    return asyncio.run(judge.evaluate(interaction(reply=reply), context))


SPENT = f"""
judge_models:
  default: {{model: openai/scripted, daily_budget_tokens: 0}}
  {LIKE_A_PUBLIC_MODEL}: {{model: {LIKE_A_PUBLIC_MODEL}, daily_budget_tokens: 0}}
evaluators:
  kind: {{judge: {{criterion: it is kind}}}}
  polite: {{judge: {{criterion: it is polite}}, judge_model: {LIKE_A_PUBLIC_MODEL}}}
  toxicity: {{builtin: toxicity}}
  rude: {{label_judge: {{system: s, user: "{{reply}}", labels: {{pass: polite, fail: rude}}}}, judge_model: {LIKE_A_PUBLIC_MODEL}}}
"""


def test_an_entrys_name_means_the_entry_wherever_the_evaluator_judges(tmp_path):
    """Its budget is kept in an experiment without configuration, by hand, in a copy, and with another model's name."""
    evaluators = loaded(tmp_path, SPENT)
    outcomes = [result.outcome for result in run(evaluators).results]
    outcomes += [by_hand(each) for each in evaluators]
    outcomes += [by_hand(replace(each, requires=("reply",))) for each in evaluators]
    outcomes.append(by_hand(evaluators[0].judge.with_model(LIKE_A_PUBLIC_MODEL).should_satisfy("it is short")))
    assert [outcome.cause for outcome in outcomes] == [Cause.BUDGET_SPENT] * 13, outcomes


def test_what_the_file_redacts_leaves_from_no_loaded_judge(tmp_path):
    """Patterns of its own, for criterion judges and label judges, in an experiment and by hand."""
    evaluators = loaded(tmp_path, """
redaction: {patterns: {customer: "C-[0-9]+"}}
evaluators:
  polite: {judge: {criterion: it is polite}}
  toxicity: {builtin: toxicity}
""")  # fmt: skip
    sent = []

    def answers(system, user):
        sent.append(user)
        return label("non-toxic") if "toxic" in system else verdict(0.9)

    with completing(answers):
        report = run(evaluators, command="Refund C-12345")
        for judge in evaluators:
            by_hand(judge)
    assert report.passed, report.render(color=False)
    assert len(sent) == 4
    assert not [user for user in sent if "C-12345" in user]
    assert all("customer" in user for user in sent)


def test_loaded_judges_ask_the_files_models_again_and_again(tmp_path):
    """Through litellm and HTTP, in one run after another, each on an event loop of its own; the day's budget is one."""
    with ScriptedModel(verdict(0.9, "kind")) as model:
        evaluators = loaded(tmp_path, f"""
judge_models:
  default: {{model: openai/scripted, api_base: "{model.base_url}", api_key: none, daily_budget_tokens: 1}}
evaluators:
  kind: {{judge: {{criterion: it is kind}}}}
""")  # fmt: skip
        first, second = run(evaluators), run(evaluators)
    assert first.results[0].describe() == "PASS judge: it is kind: scored 0.90, needed 0.50 — kind"
    assert second.results[0].outcome.cause is Cause.BUDGET_SPENT


def test_custom_evaluators_get_the_files_judges_by_their_context(tmp_path):
    """Also where the experiment's own context would bring others."""
    [custom] = loaded(tmp_path, """
judge_models: {default: {model: p/of-the-file}}
evaluators:
  own: {use: "experiment.test_loaded:asks_by_context"}
""")  # fmt: skip
    [result] = run([custom]).results
    assert result.describe() == "PASS custom: p/of-the-file"


def test_judges_that_come_along_are_no_part_of_a_version(tmp_path):
    """The same evaluator in the server, which brings its judges itself, has the same version and id."""
    text = (
        SPENT
        + '  own: {use: "experiment.test_loaded:asks_by_context"}\n  tools: {check: {should_call_tool: getOrder}}\n'
    )
    for each in loaded(tmp_path, text):
        bare = each.with_judges(None)
        assert (bare.version, bare.id, type(bare)) == (each.version, each.id, type(each))


async def test_each_event_loop_has_a_registry_of_its_own():
    """The same one on the same loop; another one on another."""
    judges = LoopJudges(Judges)

    async def here():
        return judges.of_this_loop()

    assert judges.of_this_loop() is judges.of_this_loop()
    assert await asyncio.to_thread(asyncio.run, here()) is not judges.of_this_loop()


@pytest.mark.parametrize("kept", [True, False])
def test_a_completion_function_still_comes_before_the_files_models(tmp_path, kept):
    """Given for the block, or to the judge itself."""
    [polite] = loaded(
        tmp_path, "judge_models: {default: {model: p/m}}\nevaluators: {polite: {judge: {criterion: polite}}}"
    )
    if kept:
        polite = polite.judge.with_complete(fixed(0.8)).should_satisfy("polite")
        assert by_hand(polite).score == 0.8
    else:
        with completing(fixed(0.7)):
            assert by_hand(polite).score == 0.7


async def test_judges_are_let_go_of_with_the_last_run_that_asks_them():
    """Two at the same time share them; a loop that goes on opens new ones for the next."""
    judges = LoopJudges(Judges)
    async with using_judges_of_this_loop():
        first = judges.of_this_loop()
        async with using_judges_of_this_loop():
            assert judges.of_this_loop() is first
        assert judges.of_this_loop() is first
    assert judges.of_this_loop() is not first


async def test_an_experiment_on_a_loop_that_goes_on_leaves_no_connection_open(tmp_path):
    """As one with a configuration does; what a judge opened is closed with the experiment."""
    with ScriptedModel(verdict(0.9, "kind")) as model:
        evaluators = loaded(tmp_path, f"""
judge_models: {{default: {{model: openai/scripted, api_base: "{model.base_url}", api_key: none}}}}
evaluators: {{kind: {{judge: {{criterion: it is kind}}}}}}
""")  # fmt: skip
        shop = Shop()
        cases = [EvalCase("order", "Where is o_9?")]
        experiment = Experiment(cases=cases, agent=shop, evaluators=evaluators, telemetry=shop.telemetry)
        reports = [await experiment.run_async(), await experiment.run_async()]
    assert all(report.passed for report in reports), [report.results[0].describe() for report in reports]
