"""docs/conventions.md can be followed: its convention works, and it is found once its package is installed."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_eval.conventions import reading
from otel_eval.conventions.facts import Kind
from otel_eval.conventions.registry import default_registry
from otel_eval.conventions.table import CONVENTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text()
BLOCKS = dict(re.findall(r"```\w+ title=(\S+)\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example's package as an installer leaves it: its module, and its entry points beside it."""
    (tmp_path / "acme_convention.py").write_text(BLOCKS["acme_convention.py"])
    groups = tomllib.loads(BLOCKS["pyproject.toml"])["project"]["entry-points"]
    metadata = tmp_path / "acme_convention-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-convention\nVersion: 1.0\n")
    lines = [
        line for group, points in groups.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    default_registry.cache_clear()
    yield
    default_registry.cache_clear()
    sys.modules.pop("acme_convention", None)


def test_an_installed_convention_comes_before_ours(installed: None) -> None:
    """By its entry point alone."""
    first, *rest = default_registry().conventions
    assert first is importlib.import_module("acme_convention").CONVENTION
    assert tuple(rest) == CONVENTIONS


def test_the_example_and_its_tests_run(installed: None) -> None:
    """As they stand on the page."""
    scope: dict[str, object] = {}
    exec(compile(BLOCKS["test_acme_convention.py"], "docs/conventions.md", "exec", dont_inherit=True), scope)
    tests = [value for name, value in scope.items() if name.startswith("test_") and callable(value)]
    assert len(tests) == 2
    for test in tests:
        test()


def test_without_it_the_same_spans_are_not_acmes() -> None:
    """What the example asserts comes from the example."""
    assert "acme" not in {convention.name for convention in default_registry().conventions}


def test_every_kind_of_span_is_on_the_page() -> None:
    """In the order in which they are declared."""
    table = PAGE.partition("## What a span can be")[2].partition("##")[0]
    assert re.findall(r"^\| `([A-Z]+)`", table, re.MULTILINE) == [kind.name for kind in Kind]


def test_what_the_page_names_is_there() -> None:
    """Functions of the conventions' own kit that it sends the reader to."""
    for module, name in re.findall(r"`(messages|payloads|values)\.(\w+)`", PAGE):
        assert hasattr(importlib.import_module(f"{reading.__name__}.{module}"), name), name
