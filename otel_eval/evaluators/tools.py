"""Which tools were called: the checks ``tools``, ``tool-order``, ``forbidden-tools`` and ``no-tool-errors``."""

from __future__ import annotations

from dataclasses import dataclass

from otel_eval.evaluators.contract import EvaluationContext
from otel_eval.evaluators.evidence import (
    Decided,
    forbidding,
    lacking_of,
    lacking_of_call,
    never_called,
    requiring,
)
from otel_eval.evaluators.exact import ExactEvaluator, one_text, some_texts
from otel_eval.evaluators.values import clip, listing
from otel_eval.interaction import Interaction


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CallsTools(ExactEvaluator):
    """Requires every named tool to be called, in any order; other calls are allowed, and a call that failed is a call."""

    names: tuple[str, ...]
    check = "tools"
    factory = "should_call_tools"

    def default_id(self) -> str:
        return super().default_id() if len(self.names) > 1 else f"should_call_tool({self.names[0]})"

    def _arguments(self) -> tuple[str, ...]:
        return self.names

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        called = {call.name for call in interaction.tool_calls}
        missing = [name for name in self.names if name not in called]
        wanted = ", ".join(self.names)
        return requiring(
            None if missing else f"called {wanted}",
            f"expected {wanted}, was {_names(interaction)}: {', '.join(missing)} never called",
            lacking_of(interaction, "tool_calls"),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CallsToolsInOrder(ExactEvaluator):
    """Requires the names to be a subsequence of the calls, ordered by their start."""

    names: tuple[str, ...]
    check = "tool-order"
    factory = "should_call_tools_in_order"

    def _arguments(self) -> tuple[str, ...]:
        return self.names

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        called = [call.name for call in interaction.tool_calls]
        wanted = ", ".join(self.names)
        absent = next((name for name in self.names if name not in called), None)
        if absent is not None:
            return never_called(interaction, absent)
        rest = iter(called)
        found = all(name in rest for name in self.names)
        return requiring(
            f"called in order {wanted}" if found else None,
            f"expected in order {wanted}, was {_names(interaction)}",
            lacking_of(interaction, "tool_calls"),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CallsNoTools(ExactEvaluator):
    """Forbids the named tools; an attempt that failed is a call too."""

    names: tuple[str, ...]
    check = "forbidden-tools"
    factory = "should_not_call_tools"

    def default_id(self) -> str:
        return super().default_id() if len(self.names) > 1 else f"should_not_call_tool({self.names[0]})"

    def _arguments(self) -> tuple[str, ...]:
        return self.names

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        called = {call.name for call in interaction.tool_calls}
        wrong = [name for name in self.names if name in called]
        return forbidding(
            f"expected no call of {', '.join(wrong)}, was {_names(interaction)}" if wrong else None,
            f"no call of {', '.join(self.names)}",
            lacking_of(interaction, "tool_calls"),
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ToolsDoNotFail(ExactEvaluator):
    """Forbids tool calls that failed. No call at all is no failed call."""

    check = "no-tool-errors"
    factory = "tools_should_not_fail"
    trigger_on_failure = True

    def evaluate(self, interaction: Interaction, context: EvaluationContext) -> Decided:
        calls = interaction.tool_calls
        errors = [f"{call.name} failed: {clip(call.error)}" for call in calls if call.error is not None]
        lacking = lacking_of(interaction, "tool_calls")
        if lacking is None:
            unknown = (lacking_of_call(interaction, index, "error") for index in range(len(calls)))
            lacking = next((reason for reason in unknown if reason is not None), None)
        return forbidding(
            f"expected no tool to fail, was {listing(errors)}" if errors else None,
            f"no tool failed in {len(calls)} {'call' if len(calls) == 1 else 'calls'}",
            lacking,
        )


def should_call_tool(name: str) -> CallsTools:
    """Passes when the tool was called. Inconclusive when tool calls were not captured."""
    return CallsTools(names=(one_text("should_call_tool", "name of a tool", name),))


def should_call_tools(*names: str) -> CallsTools:
    """Passes when every named tool was called, in any order, extras allowed."""
    return CallsTools(names=some_texts("should_call_tools", "name of a tool", names))


def should_call_tools_in_order(*names: str) -> CallsToolsInOrder:
    """Passes when the names are a subsequence of the calls. Inconclusive when a named tool was never called."""
    return CallsToolsInOrder(names=some_texts("should_call_tools_in_order", "name of a tool", names))


def should_not_call_tool(*names: str) -> CallsNoTools:
    """Passes when the tool was not called; of several, none was. Inconclusive when tool calls were not captured."""
    return CallsNoTools(names=some_texts("should_not_call_tool", "name of a tool", names))


def should_not_call_tools(*names: str) -> CallsNoTools:
    """Passes when none of the tools was called. Inconclusive when tool calls were not captured."""
    return CallsNoTools(names=some_texts("should_not_call_tools", "name of a tool", names))


def tools_should_not_fail() -> ToolsDoNotFail:
    """Passes when no tool call failed. Inconclusive when tool calls were not captured."""
    return ToolsDoNotFail()


def _names(interaction: Interaction) -> str:
    return listing(call.name for call in interaction.tool_calls)
