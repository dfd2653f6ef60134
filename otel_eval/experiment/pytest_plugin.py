"""The pytest plugin: one fixture, ``experiment``. A test is an experiment with its gate::

    def test_refunds(experiment):
        experiment(cases=[...], agent=agent, evaluators=[...], repeat=4, gate=...)

    async def test_refunds(experiment):
        await experiment.run_async(cases=[...], agent=agent, ...)

The test fails where the gate does, and shows the report. ``--otel-eval-reports=DIR`` keeps each experiment's report there,
as JSON and as JUnit XML. Loaded by pytest itself, so everything that costs is imported when a test asks for the fixture.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from otel_eval.experiment.experiment import Experiment
    from otel_eval.experiment.report import Report

_PROPERTY = "otel_eval"
_LONGEST_NAME = 150


def pytest_addoption(parser: pytest.Parser) -> None:
    """The plugin's one option."""
    group = parser.getgroup("otel-eval")
    group.addoption(
        "--otel-eval-reports",
        metavar="DIR",
        default=None,
        help="keep the report of every experiment in DIR, as JSON and as JUnit XML",
    )


@pytest.fixture
def experiment(request: pytest.FixtureRequest) -> ExperimentFixture:
    """Runs experiments: called with the settings of ``otel_eval.Experiment``, it fails the test where the gate fails."""
    return ExperimentFixture(request)


class ExperimentFixture:
    """What the fixture gives. The same three ways to run take settings, or an experiment that is there already."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._count = 0

    def __call__(self, given: Experiment | None = None, /, **settings: Any) -> Report:
        """Run it in a sync test. Raises GateNotPassed with the report, EventLoopRunning in an async test."""
        __tracebackhide__ = True
        return self._checked(self._experiment(given, settings).run())

    async def run_async(self, given: Experiment | None = None, /, **settings: Any) -> Report:
        """Run it in an async test. Raises GateNotPassed with the report."""
        __tracebackhide__ = True
        return self._checked(await self._experiment(given, settings).run_async())

    def _experiment(self, given: Experiment | None, settings: dict[str, Any]) -> Experiment:
        from otel_eval.experiment.experiment import Experiment

        if given is None:
            return Experiment(**{"name": self._request.node.nodeid, **settings})
        if settings:
            raise TypeError("an experiment that is there already takes no settings")
        return given

    def _checked(self, report: Report) -> Report:
        __tracebackhide__ = True
        self._count += 1
        self._keep(report)
        line = f"{'PASS' if report.passed else 'FAIL'} {report.name}: {report.gate.detail}"
        self._request.node.user_properties.append((_PROPERTY, line))
        return report.check()

    def _keep(self, report: Report) -> None:
        directory = self._request.config.getoption("--otel-eval-reports")
        if directory is None:
            return
        name = _file_name(self._request.node.nodeid)
        path = Path(directory) / (name if self._count == 1 else f"{name}-{self._count}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(path.name + ".json").write_text(report.to_json(), encoding="utf-8")
        path.with_name(path.name + ".xml").write_text(report.to_junit(), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """One line for each experiment, also of those that pytest-xdist ran in other processes: its gate, not its test."""
    lines = [
        line
        for outcome in ("passed", "failed", "xfailed", "xpassed")
        for report in terminalreporter.stats.get(outcome, ())
        for name, line in getattr(report, "user_properties", ())
        if name == _PROPERTY and getattr(report, "when", "") == "call"
    ]
    if lines:
        terminalreporter.section("experiments")
    for line in lines:
        terminalreporter.write_line(line)


def _file_name(node_id: str) -> str:
    """A file's name of a test's id. A parameter may hold anything of any length: a digest keeps those apart."""
    name = re.sub(r"[^\w.-]+", "-", node_id).strip("-")
    if "[" not in node_id and len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(node_id.encode()).hexdigest()[:8]}"
