"""docs/judges.md says what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_eval.evaluators import label_prompts
from otel_eval.evaluators.judging import CUT_ATTRIBUTE, REQUIRABLE
from otel_eval.evaluators.label_judge import BUILTIN, builtin
from otel_eval.judges import evidence, prompts, template
from otel_eval.outcome import Cause
from otel_eval.redaction import BUILTIN_KINDS
from tests.judges.test_judge_message import MESSAGE

DOCS = (Path(__file__).parent.parent.parent / "docs" / "judges.md").read_text()


@pytest.mark.parametrize(
    "prompt",
    [
        prompts.DEFAULT_SYSTEM_MESSAGE,
        prompts.REPLY_FORMAT,
        prompts.LABEL_FORMAT % "non-toxic, toxic",
        label_prompts.TOXICITY_SYSTEM,
        label_prompts.TOXICITY_USER,
        label_prompts.SUMMARIZATION_SYSTEM,
        label_prompts.SUMMARIZATION_USER,
        label_prompts.HALLUCINATION_SYSTEM,
        label_prompts.HALLUCINATION_USER,
        MESSAGE,
    ],
    ids=lambda prompt: prompt.splitlines()[0][:40],
)
def test_every_prompt_stands_in_the_docs_word_for_word(prompt: str) -> None:
    """Who reads a verdict can read what was asked."""
    assert f"```text\n{prompt}\n```" in DOCS


def test_every_name_stands_in_the_docs() -> None:
    """Template fields, what may be required, redaction types, label judges, bounds."""
    names = [f"{{{name}}}" for name in template.FIELDS]
    names += [*REQUIRABLE, *BUILTIN_KINDS, *BUILTIN, CUT_ATTRIBUTE, f"{evidence.MAX_INPUT_CHARS:,}"]
    names += [label for name in BUILTIN for label in (*builtin(name).passing, *builtin(name).failing)]
    assert [name for name in names if f"`{name}`" not in DOCS and f"({name})" not in DOCS] == []


@pytest.mark.parametrize("cause", [cause for cause in Cause if cause.name.startswith(("JUDGE", "BUDGET", "UNKNOWN"))])
def test_every_cause_of_trouble_stands_in_the_docs(cause: Cause) -> None:
    """As the records spell it."""
    assert f"`{cause.value}`" in DOCS
