"""docs/evaluators.md says what is so."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from otel_eval import EvaluationContext
from otel_eval.evaluators.checks import CHECKS
from otel_eval.evaluators.contract import run
from otel_eval.evaluators.from_config import from_check
from otel_eval.evaluators.label_judge import BUILTIN
from otel_eval.outcome import describe
from otel_eval.testing.interactions import interaction

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "evaluators.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_evaluators", DOCS / "generate_evaluators.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_what_the_table_gives(generator: ModuleType) -> None:
    """Run ``python docs/generate_evaluators.py`` after a change of a check."""
    assert generator.page(PAGE) == PAGE


def test_every_configuration_on_the_page_can_be_built() -> None:
    """Each ``check:`` makes an evaluator, and the reference has one for every check."""
    inline = re.findall(r"^- configuration: `check: (.*)`$", PAGE, re.MULTILINE)
    evaluators = [from_check(yaml.safe_load(text)) for text in inline]
    assert [evaluator.check for evaluator in evaluators] == [check.kind for check in CHECKS]
    for block in blocks("yaml"):
        for entry in yaml.safe_load(block)["evaluators"].values():
            if "check" in entry:
                from_check(entry["check"])


async def test_every_python_example_runs(context: EvaluationContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples run as they stand, and give what the page says, with the options of the configuration beside them."""
    module = ModuleType("my_package.evaluators")
    monkeypatch.setitem(sys.modules, "my_package.evaluators", module)
    for block in blocks("python"):
        exec(compile(block, "docs/evaluators.md", "exec", dont_inherit=True), module.__dict__)
    scope: dict[str, Any] = module.__dict__
    assert [evaluator.check for evaluator in scope["evaluators"]] == ["tools", "reply-lacks-payment-card"]
    used = {name: entry for block in blocks("yaml") for name, entry in yaml.safe_load(block)["evaluators"].items()}
    greets = scope["greets"].with_options(used["greets"]["options"])
    brief = scope["RepliesBriefly"](**used["brief"]["options"])
    judged = interaction(reply="Hi, it was delivered.")
    assert describe(greets.check, await run(greets, judged, context)) == "PASS house-style: starts with Hi"
    assert describe(brief.check, await run(brief, judged, context)) == "PASS brevity: 4 words of at most 80"
    said = describe("judge", await run(scope["apologizes"], judged, context))
    assert said == "FAIL judge: the reply apologizes: scored 0.00, needed 0.50 — looked for sorry"


def test_the_label_judges_that_ship_are_on_the_page() -> None:
    """Each with the labels that pass and fail."""
    for name, judge in BUILTIN.items():
        row = next(line for line in PAGE.splitlines() if f"`builtin: {name}`" in line)
        assert f"`{judge.check}`" in row
        for label in (*judge.passing, *judge.failing):
            assert f"`{label}`" in row
