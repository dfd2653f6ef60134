"""Reports as JUnit XML, for the test view of a CI system: a test case for each attempt, and one for the gate.

A failed attempt is a ``failure``, one in error an ``error``, an inconclusive one ``skipped`` (it says nothing either way);
whether the batch passes is what the test case ``gate`` says, since a gate may allow some attempts to fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as xml

from otel_eval.experiment.render import attempt_lines
from otel_eval.experiment.results import Attempt, Status
from otel_eval.outcome import Passed

if TYPE_CHECKING:
    from otel_eval.experiment.report import Report

_ELEMENT = {Status.FAILED: "failure", Status.ERROR: "error", Status.INCONCLUSIVE: "skipped"}


def junit(report: Report) -> str:
    """One ``testsuites`` document with one suite."""
    suites = xml.Element("testsuites")
    suite = xml.SubElement(suites, "testsuite", _suite_attributes(report))
    for attempt in report.attempts:
        _attempt(suite, report.name, attempt)
    gate = xml.SubElement(suite, "testcase", {"classname": _text(report.name), "name": "gate", "time": "0"})
    if not report.passed:
        failure = xml.SubElement(
            gate, "failure", {"message": _text(report.gate.detail), "type": _text(report.gate.gate)}
        )
        failure.text = _text("\n".join(part.detail for part in report.gate.parts) or report.gate.detail)
    xml.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(suites, encoding="unicode") + "\n"


def _suite_attributes(report: Report) -> dict[str, str]:
    seconds = sum(attempt.ended_ns - attempt.started_ns for attempt in report.attempts) / 1e9
    return {
        "name": _text(report.name),
        "tests": str(len(report.attempts) + 1),
        "failures": str(report.count(Status.FAILED) + (not report.passed)),
        "errors": str(report.count(Status.ERROR)),
        "skipped": str(report.count(Status.INCONCLUSIVE)),
        "time": f"{seconds:.3f}",
    }


def _attempt(suite: xml.Element, name: str, attempt: Attempt) -> None:
    seconds = (attempt.ended_ns - attempt.started_ns) / 1e9
    case = xml.SubElement(
        suite,
        "testcase",
        {"classname": _text(name), "name": _text(f"{attempt.case_id} run {attempt.run}"), "time": f"{seconds:.3f}"},
    )
    if attempt.status is Status.PASSED:
        return
    lines = [result.describe() for result in attempt.results if not isinstance(result.outcome, Passed)]
    told = xml.SubElement(case, _ELEMENT[attempt.status], {"message": _text(lines[0] if lines else "no result")})
    told.text = _text("\n".join([*lines, *attempt_lines(attempt)]))


def _text(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold."""
    return "".join(character if _allowed(ord(character)) else "\ufffd" for character in text)


def _allowed(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
