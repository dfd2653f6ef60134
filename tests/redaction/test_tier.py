"""Redaction stands beside the domain: everything may use it, and it uses the domain alone."""

from __future__ import annotations

import ast
from pathlib import Path

import otel_eval.redaction

PACKAGE = Path(otel_eval.redaction.__file__).parent


def test_redaction_imports_the_domain_alone() -> None:
    """The Interaction that it redacts, and its own modules."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.glob("*.py"))]
    imported = {node.module or "" for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {module for module in imported if module.startswith("otel_eval")}
    assert {module for module in ours if not module.startswith("otel_eval.redaction")} == {"otel_eval.interaction"}


def test_what_is_exported_is_there() -> None:
    """And nothing else is promised."""
    assert sorted(otel_eval.redaction.__all__, key=str.lower) == sorted(set(otel_eval.redaction.__all__), key=str.lower)
    assert all(hasattr(otel_eval.redaction, name) for name in otel_eval.redaction.__all__)
