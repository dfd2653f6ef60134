"""The dashboards and rules that ship: made by code, whole, and only about metrics that otel-eval declares."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from otel_eval.instruments import INSTRUMENTS, Instrument

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARDS = sorted((DEPLOY / "grafana" / "dashboards").glob("*.json"))
UNITS = {"s": "_seconds", "By": "_bytes"}
_METRIC = re.compile(r"\botel_eval_[a-z_]+(?=\{|\[|\)|,| |$)")
_RECORDED = re.compile(r"\botel_eval:[a-z_]+:[a-z_]+")


def prometheus_names(instrument: Instrument) -> set[str]:
    """The names of an instrument's series. Source: OpenTelemetry's compatibility rules for Prometheus."""
    name = instrument.name.replace(".", "_")
    suffix = UNITS.get(instrument.unit, "")
    name = name if name.endswith(suffix) else name + suffix
    if instrument.kind == "histogram":
        return {f"{name}_{part}" for part in ("bucket", "sum", "count")}
    return {f"{name}_total" if instrument.kind == "counter" else name}


def declared() -> dict[str, Instrument]:
    """Each series name with the instrument that it is of."""
    return {name: instrument for instrument in INSTRUMENTS for name in prometheus_names(instrument)}


def panels(path: Path) -> list[dict[str, Any]]:
    """The panels of a dashboard."""
    found: list[dict[str, Any]] = json.loads(path.read_text())["panels"]
    return found


def expressions() -> Iterator[tuple[str, str]]:
    """Where each expression stands, and the expression: of every panel, every variable and every rule."""
    for path in DASHBOARDS:
        for panel in panels(path):
            for target in panel["targets"]:
                yield f"{path.stem}: {panel['title']}", target["expr"]
        for variable in json.loads(path.read_text())["templating"]["list"]:
            if variable["type"] == "query":
                yield f"{path.stem}: ${variable['name']}", variable["query"]
    for path in sorted((DEPLOY / "prometheus" / "rules").glob("*.yaml")):
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                yield f"{path.stem}: {rule.get('alert') or rule['record']}", rule["expr"]


def recorded() -> set[str]:
    """The names that recording rules give, their windows taken off."""
    rules = (
        rule
        for path in (DEPLOY / "prometheus" / "rules").glob("*.yaml")
        for group in yaml.safe_load(path.read_text())["groups"]
        for rule in group["rules"]
    )
    return {match.group() for rule in rules if "record" in rule and (match := _RECORDED.match(rule["record"]))}


def test_dashboards_are_what_their_code_makes(tmp_path: Path) -> None:
    """deploy/grafana/dashboards/ is what `python deploy/grafana/build.py` writes."""
    if importlib.util.find_spec("grafana_foundation_sdk") is None:
        pytest.skip("missing: grafana-foundation-sdk — pip install 'otel-eval[dev]'")
    subprocess.run(
        [sys.executable, str(DEPLOY / "grafana" / "build.py"), str(tmp_path)], check=True, capture_output=True
    )
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_text() for path in DASHBOARDS}


def test_recording_rules_are_what_their_code_makes() -> None:
    """deploy/prometheus/rules/recording.yaml is what `python deploy/prometheus/build.py` writes."""
    path = DEPLOY / "prometheus" / "build.py"
    spec = importlib.util.spec_from_file_location("recording_rules", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.render() == (DEPLOY / "prometheus" / "rules" / "recording.yaml").read_text()


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_panel_explains_itself(path: Path) -> None:
    """Each panel has a title, a description, a unit and a query; nothing names a data source of one installation."""
    for panel in panels(path):
        assert panel["title"]
        assert len(panel["description"]) > 20, panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert panel["targets"], panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_do_not_overlap(path: Path) -> None:
    """Every cell of the grid belongs to at most one panel, and no panel is wider than the grid."""
    taken: dict[tuple[int, int], str] = {}
    for panel in panels(path):
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in taken, f"{panel['title']} lies over {taken[x, y]}"
                taken[x, y] = panel["title"]


@pytest.mark.parametrize(("where", "expression"), list(expressions()), ids=lambda text: text[:40])
def test_expressions_use_declared_metrics_only(where: str, expression: str) -> None:
    """Each series that a panel or a rule asks for is declared in otel_eval/instruments.py, or recorded by a rule."""
    known, labels = declared(), {label.replace(".", "_") for each in INSTRUMENTS for label in each.labels}
    unknown = {name for name in _METRIC.findall(expression) if name not in known and name not in labels}
    assert not unknown, where
    assert {match.group() for match in _RECORDED.finditer(expression)} <= recorded(), where


@pytest.mark.parametrize(("where", "expression"), list(expressions()), ids=lambda text: text[:40])
def test_expressions_select_by_labels_that_the_metric_has(where: str, expression: str) -> None:
    """A selector on a label that its metric does not carry would be empty for ever, or match everything."""
    known = declared()
    for name, selector in re.findall(r"\b(otel_eval_[a-z_]+)\{([^}]*)\}", expression):
        has = {label.replace(".", "_") for label in known[name].labels} | {"instance", "job", "le"}
        used = set(re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)", selector))
        assert used <= has, where


def test_every_alert_is_explained() -> None:
    """Each alert says how bad it is, and its runbook is a section of docs/alerts.md that is about it and no other."""
    text = (DEPLOY.parent / "docs" / "alerts.md").read_text()
    sections = [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")]
    rules = [
        rule
        for group in yaml.safe_load((DEPLOY / "prometheus" / "rules" / "alerts.yaml").read_text())["groups"]
        for rule in group["rules"]
    ]
    assert sorted(rule["alert"] for rule in rules) == sorted(sections)
    for rule in rules:
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["runbook"] == f"docs/alerts.md#{rule['alert'].lower()}"
        assert {"summary", "description"} <= set(rule["annotations"])


def test_every_alert_has_tests_of_both_directions() -> None:
    """The rule tests expect each alert to fire somewhere, and not to fire somewhere else."""
    fires, silent = set(), set()
    for path in (DEPLOY / "prometheus" / "tests").glob("*.yaml"):
        for case in yaml.safe_load(path.read_text())["tests"]:
            for expected in case.get("alert_rule_test", ()):
                (fires if expected["exp_alerts"] else silent).add(expected["alertname"])
    rules = yaml.safe_load((DEPLOY / "prometheus" / "rules" / "alerts.yaml").read_text())["groups"]
    names = {rule["alert"] for group in rules for rule in group["rules"]}
    assert fires == names
    assert silent == names
