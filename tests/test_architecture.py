"""The architecture stays as docs/architecture.md draws it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "otel_eval"
PIPELINE = ("receive", "journal", "assemble", "conventions", "ledger", "dispatch", "evaluators", "judges", "emit")
STORE = "ledger"
UPWARDS = {("judges/judge.py", "otel_eval.evaluators.criterion")}
"""Who may import what is above it all the same, within a function: ``judge.should_satisfy(…)`` makes an evaluator."""
DOMAIN = ("interaction", "outcome")


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if not path.name.endswith(("_pb2.py", "_pb2_grpc.py")):
            yield path.relative_to(PACKAGE).as_posix(), path


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Every absolute module that a file imports, and whether only for type checking."""

    def walk(node: ast.AST, typing_only: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield alias.name, typing_only
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}: relative imports hide the direction"
                yield child.module or "", typing_only
                for alias in child.names:
                    yield f"{child.module}.{alias.name}", typing_only
            guarded = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            yield from walk(child, typing_only or guarded)

    yield from walk(ast.parse(path.read_text()), False)


@pytest.mark.parametrize("name", DOMAIN)
def test_the_domain_imports_nothing_of_ours(name: str) -> None:
    """interaction.py and outcome.py import the standard library alone."""
    outside = [
        module for module, _ in imports(PACKAGE / f"{name}.py") if module.split(".")[0] not in sys.stdlib_module_names
    ]
    assert outside == []


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_dependencies_point_down_the_pipeline(name: str, path: Path) -> None:
    """A stage imports only stages below it, and the ledger, which is the store of all that follow it and imports none."""
    stage = name.split("/")[0]
    if stage not in PIPELINE:
        return
    allowed = (STORE,) if stage == STORE else (STORE, *PIPELINE[PIPELINE.index(stage) :])
    beside = {"api", "experiment", "cli", "testing", "server", "pipeline", "demo"}
    for module, typing_only in imports(path):
        parts = module.split(".")
        if parts[0] != "otel_eval" or len(parts) < 2 or typing_only:
            continue
        assert parts[1] not in beside, f"{name} imports {module}"
        if parts[1] in PIPELINE and not any(name == at and module.startswith(what) for at, what in UPWARDS):
            assert parts[1] in allowed, f"{name} imports {module}, which is above it"


def test_what_reads_the_journal_knows_nothing_of_judging() -> None:
    """``pipeline/`` hands what is complete to a function that it is given."""
    found = {
        module.split(".")[1]
        for name, path in modules()
        if name.startswith("pipeline/")
        for module, _ in imports(path)
        if module.startswith("otel_eval.")
    }
    assert found.isdisjoint({"dispatch", "evaluators", "judges", "emit", "experiment", "server", "cli", "api"})


def test_the_api_knows_the_ledger_and_no_server() -> None:
    """What it asks beside the ledger is handed in; of the receivers it shares how a gRPC listener is made."""
    allowed = {"api", "v1", "ledger", "record", "interaction", "outcome", "identity", "clock", "instruments", "wording"}
    listeners = {"otel_eval.receive.grpc_listening", "otel_eval.receive.listener"}
    found = {
        module
        for name, path in modules()
        if name.startswith("api/")
        for module, _ in imports(path)
        if module.startswith("otel_eval.") and module.split(".")[1] not in allowed
    }
    assert {module for module in found if not any(module.startswith(each) for each in listeners)} == set()


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_grpc_and_protobuf_stay_at_the_edges(name: str, path: Path) -> None:
    """gRPC and protobuf are named in receive/, emit/ and api/ (and in the kit that tests them) alone."""
    if name.split("/")[0] in ("receive", "emit", "api", "testing"):
        return
    found = [
        m for m, _ in imports(path) if m.split(".")[0] in ("grpc", "google") or m.startswith("opentelemetry.proto")
    ]
    assert found == []


def test_the_package_is_light_to_import() -> None:
    """`import otel_eval` pulls in no server, database, model or telemetry library."""
    heavy = ("grpc", "litellm", "sqlalchemy", "opentelemetry", "pydantic", "starlette", "google.protobuf")
    code = f"import sys, otel_eval; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
