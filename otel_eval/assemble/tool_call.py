"""One tool call, out of its span and the model's request for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from otel_eval.assemble.nodes import is_open
from otel_eval.assemble.requested_calls import Asked
from otel_eval.assemble.tool_spans import ToolSpan, letters
from otel_eval.conventions.facts import MISSING, Facts, Kind, Mark, Missing
from otel_eval.conventions.reading.failures import error_in_result, is_bare
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.conventions.reading.truncation import LIMIT_SETTING, MARKER, is_cut
from otel_eval.interaction import Failure, Gap, GapKind, JsonValue, ToolCall
from otel_eval.json_text import dumps

_KIND = re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception)")
"""An error of which a span says the type alone: what went wrong is what the model was shown for a result."""

_WORDLESS = frozenset({"tool_error", str(Failure())})
"""What there is of a failure without words. The first is the ``error.type`` of a tool of the Model Context Protocol whose
result is an error (semantic conventions)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """What there is to say of arguments and results that are not there, or not whole.

    ``seen``: there are spans of tools, also of those that fail.
    """

    seen: bool
    setting: str | None
    tails: frozenset[str]
    lost: GapKind | None


def tool_call(span: ToolSpan | None, request: Asked | None, missing: Lacking) -> ToolCall:
    """The call, of which one of the two is known at least: what the span says, in the model's words where those are whole."""
    facts = span.facts if span is not None else Facts(kind=Kind.TOOL)
    name = request.name if request is not None else facts.tool or "(unknown)"  # a span may have the tool's title
    arguments, result, error = facts.arguments, facts.result, facts.error
    if request is not None:
        if arguments is MISSING or (not isinstance(arguments, dict) and isinstance(request.arguments, dict)):
            arguments = request.arguments if request.arguments is not None else arguments
        elif isinstance(request.arguments, dict) and is_cut(arguments) and not is_cut(request.arguments):
            arguments = request.arguments
        if result is MISSING or _is_whole(request.result, result, facts, missing.tails):
            result = request.result
        if error is None and request.failed:
            error = _text(request.result) if request.result is not MISSING else "failed"
        if facts.result is MISSING and request.result is not MISSING and (error is None or is_bare(error)):
            error = error_in_result(request.result, loop=not missing.seen) or error
        if error is not None and error == facts.error and (shown := _shown(request.result)):
            error = shown if error in _WORDLESS else f"{error}: {shown}" if _KIND.fullmatch(error) else error
    absent = GapKind.INCOMPLETE if span is not None and is_open(span.node) else missing.lost or GapKind.NOT_CAPTURED
    gaps = _gaps(facts, arguments, result, error, missing, absent)
    return ToolCall(
        name=name,
        arguments=None if arguments is MISSING or is_placeholder(arguments) else arguments,
        result=None if error is not None or result is MISSING or is_placeholder(result) else result,
        error=error,
        call_id=facts.call_id or (request.call_id if request is not None else None),
        span_id=span.node.span_id if span is not None else None,
        started_ns=(span.node.started_ns or None) if span is not None else None,
        ended_ns=(span.node.ended_ns or None) if span is not None else None,
        gaps=gaps,
    )


def _is_whole(shown: JsonValue | Missing, result: JsonValue, facts: Facts, tails: frozenset[str]) -> bool:
    """Whether the model was shown the whole of a result that a limit cut on the tool's span."""
    if shown is MISSING or not isinstance(result, str):
        return False
    if not (_CUT_RESULT in facts.marks or is_cut(result, tails)) or is_cut(shown, tails):
        return False
    kept, whole = letters(MARKER.sub("", result).rstrip(".…")), letters(_text(shown))
    return len(kept) >= _BEGINNING and len(kept) < len(whole) and whole.startswith(kept)


_CUT_RESULT = Mark(field="result", kind=GapKind.TRUNCATED)
_BEGINNING = 8
"""Letters and digits: fewer, any two results may begin with."""


def _shown(result: JsonValue | Missing) -> str | None:
    return result if isinstance(result, str) and not is_placeholder(result) else None


def _gaps(
    facts: Facts,
    arguments: JsonValue | Missing,
    result: JsonValue | Missing,
    error: str | None,
    missing: Lacking,
    absent: GapKind,
) -> tuple[Gap, ...]:
    setting, gaps = (missing.setting if facts.setting is None else facts.setting or None), []
    for field, value in (("arguments", arguments), ("result", result)):
        own = value is MISSING or value is (facts.arguments if field == "arguments" else facts.result)
        kind = next((mark.kind for mark in facts.marks if mark.field == field), None) if own else None
        if is_placeholder(value):
            kind = GapKind.REDACTED
        if kind is None and value is not MISSING and is_cut(value, missing.tails) and not (field == "result" and error):
            gaps.append(Gap(field=field, kind=GapKind.TRUNCATED, setting=None if is_cut(value) else LIMIT_SETTING))
            continue
        if kind is None and value is MISSING and not (field == "result" and error is not None):
            dropped = any(mark.field == "*" for mark in facts.marks)
            kind = GapKind.DROPPED if dropped else absent
        if kind is not None and (value is MISSING or kind is not GapKind.NOT_CAPTURED):
            limit = LIMIT_SETTING if kind is GapKind.TRUNCATED and facts.cut else None
            helps = kind in (GapKind.NOT_CAPTURED, GapKind.REDACTED)
            gaps.append(Gap(field=field, kind=kind, setting=setting if helps else limit))
    return tuple(gaps)


def _text(value: JsonValue | Missing) -> str:
    return value if isinstance(value, str) else dumps(value).decode()
