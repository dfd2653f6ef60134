"""docs/frameworks.md says what came out of the recordings."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from docs.generate_frameworks import PAGE, WORDS, page
from tests.corpus.recordings import names


def test_the_page_is_what_the_recordings_give(corpus: Path) -> None:
    """Run ``python -m docs.generate_frameworks`` after a change of a convention, and read the difference."""
    assert page(PAGE.read_text(), corpus) == PAGE.read_text()


def test_every_set_of_recordings_has_its_row() -> None:
    """No recorded instrumentation is left out, and no row is of one that was never recorded."""
    rows = [name for framework in yaml.safe_load(WORDS.read_text()) for name in framework["rows"]]
    assert len(rows) == len(set(rows))
    assert set(rows) == {name.split("/")[0] for name in names()}


def test_links_on_the_page_lead_somewhere() -> None:
    """Files that it names are there, and so are its own headings."""
    text = PAGE.read_text()
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line[3:].lower()).replace(" ", "-") for line in re.findall(r"^## .*", text, re.M)
    }
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in headings
        else:
            assert (PAGE.parent / target).exists(), target
