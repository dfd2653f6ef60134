"""docs/frameworks.md says what came out of the recordings."""

from __future__ import annotations

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
