"""What `otel_eval.testing` offers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import otel_eval.testing


def test_what_is_exported_is_what_type_checkers_see() -> None:
    """`__all__`, the names imported for type checkers and the attributes are the same."""
    tree = ast.parse(Path(otel_eval.testing.__file__).read_text())
    typed = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    typed -= {"TYPE_CHECKING", "annotations"}
    assert typed == set(otel_eval.testing.__all__)
    assert all(getattr(otel_eval.testing, name) is not None for name in typed)


def test_a_fixed_answer_needs_no_server() -> None:
    """`from otel_eval.testing import fixed` loads neither gRPC nor SQLAlchemy."""
    code = "import sys; from otel_eval.testing import fixed; print([m for m in ('grpc', 'sqlalchemy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
