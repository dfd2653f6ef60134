"""Every configuration in the repository, checked by the program that it is for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from .parts import DEPLOY, REPOSITORY, tool

MAIN = REPOSITORY / "collector-config.yaml"
VARIANTS = sorted(path for path in (DEPLOY / "collector").glob("*.yaml") if path.name != "manifest.yaml")


@pytest.mark.parametrize("variant", [None, *VARIANTS], ids=lambda path: path.stem if path else "main")
def test_the_collector_accepts_each_configuration(variant: Path | None, tmp_path: Path) -> None:
    """`otelcol validate` has nothing to say about the main configuration, alone or with one variant laid over it."""
    configs = [MAIN] if variant is None else [MAIN, variant]
    command = [tool("otelcol"), "validate", *(f"--config={path}" for path in configs)]
    answer = subprocess.run(
        command, env={"QUEUE_DIRECTORY": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize("other", ["persistent-queue", "replicas"])
def test_the_collector_accepts_tail_sampling_with_another_variant(other: str, tmp_path: Path) -> None:
    """Tail sampling goes with a persistent queue, and with replicas; those two are for two collectors in a row."""
    paths = [MAIN, *(DEPLOY / "collector" / f"{name}.yaml" for name in ("tail-sampling", other))]
    command = [tool("otelcol"), "validate", *(f"--config={path}" for path in paths)]
    answer = subprocess.run(
        command, env={"QUEUE_DIRECTORY": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize("name", ["deployment.md"])
def test_the_collector_accepts_what_the_docs_show(name: str, tmp_path: Path) -> None:
    """Collector configuration in the docs, laid over the main configuration, is accepted as well."""
    blocks = re.findall(r"```yaml\n(.*?)```", (REPOSITORY / "docs" / name).read_text(), re.DOTALL)
    shown = [block for block in blocks if "pipelines:" in block]
    assert shown
    for index, block in enumerate(shown):
        path = tmp_path / f"{index}.yaml"
        path.write_text(block)
        command = [tool("otelcol"), "validate", f"--config={MAIN}", f"--config={path}"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (answer.returncode, answer.stderr) == (0, "")


def test_the_collector_refuses_a_wrong_configuration(tmp_path: Path) -> None:
    """`validate` is a check that can fail: a pipeline that names an exporter that is not there is refused."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("service: {pipelines: {traces/judge: {exporters: [otlp_grpc/nowhere]}}}\n")
    command = [tool("otelcol"), "validate", f"--config={MAIN}", f"--config={wrong}"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode != 0
    assert "otlp_grpc/nowhere" in answer.stderr


@pytest.mark.parametrize("name", ["prometheus", "prometheus-compose", "prometheus-kubernetes"])
def test_prometheus_accepts_the_configuration_and_the_rules(name: str) -> None:
    """`promtool check config` follows rule_files, so it reads every rule."""
    command = [tool("promtool"), "check", "config", str(DEPLOY / "prometheus" / f"{name}.yaml")]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert "SUCCESS: 3 rule files found" in answer.stdout


@pytest.mark.parametrize("path", sorted((DEPLOY / "prometheus" / "tests").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_rules_do_what_their_tests_say(path: Path) -> None:
    """`promtool test rules`: pass rate and coverage, and for each alert that it fires, its opposite, and no data."""
    answer = subprocess.run([tool("promtool"), "test", "rules", str(path)], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
