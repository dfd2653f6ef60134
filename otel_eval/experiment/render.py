"""A report for people, on a terminal or in a test's failure."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from otel_eval.experiment.results import Attempt, CaseSummary, Result, Status, Tally
from otel_eval.interaction import Interaction, JsonValue, ToolCall
from otel_eval.outcome import Passed
from otel_eval.wording import number_of

if TYPE_CHECKING:
    from otel_eval.experiment.report import Report

_COLORS = {
    Status.PASSED: "32",
    Status.FAILED: "31",
    Status.INCONSISTENT: "33",
    Status.ERROR: "35",
    Status.INCONCLUSIVE: "33",
}
_WORD_COLORS = {"PASS": "32", "FAIL": "31", "INCONCLUSIVE": "33", "ERROR": "35"}
_MAX_REPLY, _MAX_VALUE = 600, 200
_NOT_CAPTURED = "(not captured)"
_INDENT = "          "


def render(report: Report, color: bool | None) -> str:
    """The report as text: the gate and the sums first, then each attempt that did not pass."""
    paint = _Paint(_wants_color() if color is None else color)
    lines = [*_head(report, paint), *_evaluators(report, paint), *_inconsistent(report, paint), *_spend(report)]
    for attempt in report.attempts:
        if attempt.status is not Status.PASSED:
            lines += ["", *_attempt(attempt, paint)]
    return "\n".join(lines)


class _Paint:
    def __init__(self, on: bool) -> None:
        self._on = on

    def __call__(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on else text

    def status(self, status: Status) -> str:
        return self(status.value, _COLORS[status])


def _head(report: Report, paint: _Paint) -> Iterator[str]:
    verdict = paint("PASSED", "1;32") if report.passed else paint("NOT PASSED", "1;31")
    yield f"{_clean(report.name)}: {verdict}"
    others = [f"{report.count(status)} {status.value.lower()}" for status in Status if _shown(report, status)]
    aside = f" ({', '.join(others)})" if others else ""
    yield f"attempts  {report.count(Status.PASSED)} of {len(report.attempts)} passed{aside}"
    parts = report.gate.parts or (report.gate,)
    for index, part in enumerate(parts):
        mark = paint("PASS", "32") if part.passed else paint("FAIL", "31")
        yield f"{'gate      ' if index == 0 else _INDENT}{mark} {_clean(part.detail)}"
    for warning in report.gate.warnings:
        yield f"{_INDENT}{paint('warning:', '33')} {_clean(warning)}"


def _shown(report: Report, status: Status) -> bool:
    return status is not Status.PASSED and report.count(status) > 0


def _evaluators(report: Report, paint: _Paint) -> Iterator[str]:
    refs = report.evaluators
    if not refs:
        return
    yield "evaluators"
    width = min(max(len(ref.id) for ref in refs), 60)
    for ref in refs:
        yield f"  {_cut(ref.id, 80).ljust(width)}  {_tally(report.tally(ref.id), paint)}"


def _tally(tally: Tally, paint: _Paint) -> str:
    if tally.rate is None:
        rate = paint("judged nothing", "33")
    else:
        rate = paint(f"{tally.rate:.2f}", "32" if tally.failed == 0 else "31")
        rate += f" ({tally.passed} of {tally.conclusive} passed)"
    text = f"{rate}, {tally.inconclusive} inconclusive, {number_of(tally.errors, 'error')}"
    return f"{text}, not run in {tally.not_run}" if tally.not_run else text


def _inconsistent(report: Report, paint: _Paint) -> Iterator[str]:
    cases = [case for case in report.cases if case.status is Status.INCONSISTENT]
    if cases:
        yield "inconsistent cases"
    for case in cases:
        yield f"  {_clean(case.case_id)}: {'; '.join(_runs(case, paint))}"


def _runs(case: CaseSummary, paint: _Paint) -> Iterator[str]:
    for status in Status:
        runs = [str(attempt.run) for attempt in case.attempts if attempt.status is status]
        if runs:
            yield f"{paint.status(status)} in run{'s' if len(runs) > 1 else ''} {', '.join(runs)}"


def _spend(report: Report) -> Iterator[str]:
    spend = report.spend
    agent = [
        _amount(spend.agent_model_calls, "model calls"),
        _amount(spend.agent_tokens, "tokens"),
        "" if spend.agent_mean_ns is None else f"{_seconds(spend.agent_mean_ns)} on average",
        "" if spend.agent_slowest_ns is None else f"{_seconds(spend.agent_slowest_ns)} at most",
    ]
    yield f"agent     {', '.join(part for part in agent if part) or 'nothing known'}"
    if not spend.judge_calls:
        yield "judges    no model was asked"
        return
    cost = "cost unknown" if spend.judge_cost_usd is None else f"${spend.judge_cost_usd:.4f}"
    if spend.judge_cost_usd is not None and spend.judge_unpriced:
        cost += f" and {spend.judge_unpriced} calls without a known price"
    judges = [_amount(spend.judge_calls, "calls"), _amount(spend.judge_tokens, "tokens"), cost]
    judges.append("" if spend.judge_mean_ns is None else f"{_seconds(spend.judge_mean_ns)} on average")
    yield f"judges    {', '.join(part for part in judges if part)}"


def _attempt(attempt: Attempt, paint: _Paint) -> Iterator[str]:
    yield f"{_clean(attempt.case_id)}, run {attempt.run}: {paint.status(attempt.status)}"
    yield from attempt_lines(attempt)
    checks = [result.check for result in attempt.results]
    for result in attempt.results:
        if not isinstance(result.outcome, Passed):
            name = f" [{_clean(result.evaluator.id)}]" if checks.count(result.check) > 1 else ""
            yield f"  {_result(result, paint)}{name}"


def attempt_lines(attempt: Attempt) -> Iterator[str]:
    """What was asked, what was replied, which tools were called, and notes on the evidence; indented by two."""
    interaction = attempt.interaction
    asked = attempt.command if interaction is None or interaction.asked is None else interaction.asked
    reply = attempt.reply if interaction is None else interaction.reply
    yield f"  asked: {_cut(asked, _MAX_REPLY)}"
    none = "(none)" if interaction is None or interaction.gap("reply") is None else _NOT_CAPTURED
    yield f"  reply: {none if reply is None else _cut(reply, _MAX_REPLY)}"
    if attempt.traced_reply is not None:
        yield f"  the trace's last text: {_cut(attempt.traced_reply, _MAX_REPLY)}"
    yield from _tools(interaction)
    for note in attempt.notes:
        yield f"  note: {_clean(note)}"


def _tools(interaction: Interaction | None) -> Iterable[str]:
    if interaction is None:
        return
    if not interaction.tool_calls:
        captured = interaction.gap("tool_calls") is None
        yield f"  tools: {'none called' if captured else 'not captured'}"
        return
    yield "  tools:"
    for call in interaction.tool_calls:
        yield f"    {_tool(call)}"


def _tool(call: ToolCall) -> str:
    arguments = "" if call.arguments is None else f" {_value(call.arguments)}"
    if call.arguments is None and call.gap("arguments") is not None:
        arguments = f" {_NOT_CAPTURED}"
    return f"{_clean(call.name)}{arguments} -> {_outcome(call)}"


def _outcome(call: ToolCall) -> str:
    if call.error is not None:
        return f"failed: {_cut(call.error, _MAX_VALUE)}"
    if call.result is None and call.gap("result") is not None:
        return _NOT_CAPTURED
    return _value(call.result)


def _result(result: Result, paint: _Paint) -> str:
    word, _, rest = result.describe().partition(" ")
    return f"{paint(word, _WORD_COLORS[word])} {_clean(rest)}"


def _value(value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _cut(text, _MAX_VALUE)


def _cut(text: str, limit: int) -> str:
    clean = _clean(text)
    return clean if len(clean) <= limit else f"{clean[:limit]}… ({len(clean)} characters)"


def _clean(text: str) -> str:
    """On one line and without control characters: a reply must not draw on somebody's terminal."""
    one_line = " ".join(text.split())
    return "".join(character if character.isprintable() else "\ufffd" for character in one_line)


def _amount(count: int | None, noun: str) -> str:
    if count is None:
        return ""
    return f"{count:,} {noun.removesuffix('s') if count == 1 else noun}"


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e9:.2f} s"


def _wants_color() -> bool:
    """Where a person reads it on a terminal that can. An empty NO_COLOR says nothing (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
