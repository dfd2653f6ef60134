"""What tools were called with and what they gave back: the checks ``tool-arguments`` and ``tool-results``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_eval.evaluators.contract import EvaluationContext
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.evidence import Decided, calls_of, lacking_of, lacking_of_call, never_called, requiring
from otel_eval.evaluators.exact import ExactEvaluator, one_text
from otel_eval.evaluators.text_evidence import evidence_of
from otel_eval.evaluators.values import clip, listing, members_of_cut, plain, same, show, texts_in
from otel_eval.interaction import Interaction, JsonValue, ToolCall
from otel_eval.outcome import Cause, Inconclusive
from otel_eval.redaction import markers

_ABSENT = object()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CallsToolWith(ExactEvaluator):
    """Requires some call of the tool whose argument has that value (:func:`otel_eval.evaluators.values.same`).

    An argument that was not given has no value: it is not None.
    """

    tool: str
    argument: str
    value: JsonValue
    check = "tool-arguments"
    factory = "should_call_tool_with"

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        arrived = []
        lacking = lacking_of(interaction, "tool_calls")
        for index, call in calls_of(interaction, self.tool):
            value, unknown = self._read(interaction, index, call)
            if unknown is not None:
                lacking = lacking or unknown
                arrived.append("(unknown)" if value is _ABSENT else f"{show(value)} (not whole)")
                continue
            if value is not _ABSENT and same(value, self.value):
                return requiring(f"{self._place} was {show(self.value)}", "", None)
            arrived.append("(absent)" if value is _ABSENT else show(value))
        if not arrived:
            return never_called(interaction, self.tool)
        return requiring(None, f"{self._place} expected {show(self.value)}, was {listing(arrived)}", lacking)

    @property
    def _place(self) -> str:
        return f"{self.tool}({self.argument})"

    def _hidden(self) -> Inconclusive:
        return Inconclusive(reason=f"{self._place} redacted", cause=Cause.REDACTED)

    def _read(self, interaction: Interaction, index: int, call: ToolCall) -> tuple[Any, Inconclusive | None]:
        """The argument's value and, where more evidence could change it, why."""
        gap = lacking_of_call(interaction, index, "arguments")
        cut = gap is not None and gap.cause is Cause.TRUNCATED
        arguments: Mapping[str, Any] = call.arguments if isinstance(call.arguments, Mapping) else {}
        # What was cut is the end: only the last value can be a part of a longer one.
        unsure = next(reversed(list(arguments)), None)
        if cut and isinstance(call.arguments, str):
            arguments, unsure = members_of_cut(call.arguments), None
        value = arguments.get(self.argument, _ABSENT)
        if value is _ABSENT:
            hidden = isinstance(call.arguments, str) and _has_marker(call.arguments)
            return value, gap or (self._hidden() if hidden else None)
        if _has_marker(value) and not same(value, self.value):
            return value, gap or self._hidden()
        if cut:
            return value, gap if self.argument == unsure else None
        found = gap is None or (gap.cause is not Cause.INCOMPLETE and same(value, self.value))
        return value, None if found else gap


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ToolResultContains(ExactEvaluator):
    """Requires some result of the tool to contain the text, ignoring case: anywhere in its JSON or in a text within."""

    tool: str
    text: str
    check = "tool-results"
    factory = "tool_result_should_contain"

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        arrived = []
        called = False
        lacking = of_list = lacking_of(interaction, "tool_calls")
        for index, call in calls_of(interaction, self.tool):
            called = True
            if call.error is not None:
                continue
            unknown = of_list or lacking_of_call(interaction, index, "result")
            lacking = lacking or unknown
            if call.result is None:
                continue
            if self._is_in(call.result, whole=unknown is None):
                return requiring(f"{self.tool} result contains {show(self.text)}", "", None)
            if _has_marker(call.result):
                lacking = lacking or Inconclusive(
                    reason=f"result of {self.tool} redacted in part", cause=Cause.REDACTED
                )
            arrived.append(show(call.result))
        if not called:
            return never_called(interaction, self.tool)
        if not arrived and lacking is None:
            return self._no_result(interaction)
        return requiring(
            None, f"{self.tool} result expected to contain {show(self.text)}, was {listing(arrived)}", lacking
        )

    def _is_in(self, result: JsonValue, *, whole: bool) -> bool:
        folded = self.text.casefold()
        texts = texts_in(result)
        if not whole and not isinstance(result, str):
            # The brackets that close what was cut are not evidence.
            texts = (text.rstrip('"}]') for text in texts)
        return any(evidence_of(text).contains(folded) for text in texts)

    def _no_result(self, interaction: Interaction) -> Inconclusive:
        errors = [call.error for _, call in calls_of(interaction, self.tool) if call.error is not None]
        if errors:
            return Inconclusive(
                reason=f"{self.tool} gave no result: it failed: {clip(errors[-1])}", cause=Cause.DEPENDS_ON_OTHER_CHECK
            )
        return Inconclusive(reason=f"{self.tool} gave no result", cause=Cause.NOTHING_TO_JUDGE)


def should_call_tool_with(tool: str, argument: str, value: JsonValue) -> CallsToolWith:
    """Passes when some call has that value: 12 equals 12.0, "4999" is not 4999, True is not 1, None only None."""
    factory = "should_call_tool_with"
    try:
        wanted = plain(value)
    except ValueError as error:
        raise EvaluatorDefinitionError(f"{factory}: value: {error}") from None
    return CallsToolWith(
        tool=one_text(factory, "tool", tool), argument=one_text(factory, "argument", argument), value=wanted
    )


def tool_result_should_contain(tool: str, text: str) -> ToolResultContains:
    """Passes when some result of the tool contains the text, ignoring case. Inconclusive when never called, or no result."""
    factory = "tool_result_should_contain"
    return ToolResultContains(tool=one_text(factory, "tool", tool), text=one_text(factory, "text", text))


def _has_marker(value: Any) -> bool:
    return any(markers.spans(text) for text in texts_in(value))
