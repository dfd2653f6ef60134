"""What ``import otel_eval`` gives."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import otel_eval
from otel_eval.evaluators.checks import CHECKS


def test_all_is_exactly_what_can_be_imported() -> None:
    """Every name of ``__all__`` is there, is listed by dir(), and is the object of the module it comes from."""
    for name in otel_eval.__all__:
        assert getattr(otel_eval, name) is getattr(importlib.import_module(otel_eval._HOME[name]), name)
    assert set(otel_eval.__all__) <= set(dir(otel_eval))
    assert len(set(otel_eval.__all__)) == len(otel_eval.__all__)


def test_type_checkers_see_what_is_exported() -> None:
    """The imports for type checking name the same objects, from the same modules, as the table that is used at run time."""
    tree = ast.parse(Path(otel_eval.__file__).read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == otel_eval._HOME


def test_every_factory_is_exported() -> None:
    """A check that a configuration can name can be imported."""
    assert {check.name for check in CHECKS} <= set(otel_eval.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="module 'otel_eval' has no attribute 'shoud_call_tool'"):
        otel_eval.shoud_call_tool  # noqa: B018


@pytest.mark.parametrize(
    "code",
    [
        "import otel_eval",
        "from otel_eval import should_call_tool, Interaction, evaluator; should_call_tool('a').version",
    ],
)
def test_importing_it_is_light(code: str) -> None:
    """No server, database, model or telemetry library is loaded, neither by the package nor by an exact evaluator."""
    heavy = (
        "grpc",
        "google.protobuf",
        "litellm",
        "sqlalchemy",
        "opentelemetry",
        "pydantic",
        "jsonschema",
        "otel_eval.judges",
    )
    script = f"import sys\n{code}\nprint([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
