"""Every exact evaluator as data: what it is called, what it takes, when it passes.

``from_check`` builds one from a configuration's ``check:`` with it, the JSON schema of that key and docs/evaluators.md are
made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from otel_eval.evaluators import budgets, failures, reply_json, reply_numbers, reply_text, tool_values, tools
from otel_eval.evaluators.exact import ExactEvaluator

NOT_CAPTURED = "the reply was not captured"
NO_CALLS = "tool calls were not captured"
NEVER_CALLED = "the tool was never called"
NO_COUNT = "the telemetry has no count"


class Kind(StrEnum):
    """What a parameter takes, in the words of the error messages and of the documentation."""

    TEXT = "a text"
    PATTERN = "a regular expression"
    COUNT = "a whole number"
    DURATION = "a duration"
    VALUE = "any JSON value"
    SCHEMA = "a JSON schema"


class Rule(StrEnum):
    """What partial evidence can do to a check (:mod:`otel_eval.evaluators.evidence`)."""

    REQUIRING = "requiring"
    FORBIDDING = "forbidding"
    LIMIT = "limit"
    WHOLE = "whole value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a factory. A ``variadic`` one takes any number of values, at least one."""

    name: str
    kind: Kind
    variadic: bool = False
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One factory of exact evaluators. ``example`` are arguments that make a sensible one."""

    factory: Callable[..., ExactEvaluator]
    kind: str
    rule: Rule
    parameters: tuple[Parameter, ...] = ()
    passes: str
    inconclusive: str
    example: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The factory's name, in Python and in the configuration."""
        return self.factory.__name__


def _text(name: str, kind: Kind = Kind.TEXT) -> Parameter:
    return Parameter(name=name, kind=kind)


_NAMES = Parameter(name="names", kind=Kind.TEXT, variadic=True)
_TEXTS = Parameter(name="texts", kind=Kind.TEXT, variadic=True)
_N = Parameter(name="n", kind=Kind.COUNT)

CHECKS: tuple[Check, ...] = (
    Check(
        factory=tools.should_call_tool,
        kind="tools",
        rule=Rule.REQUIRING,
        parameters=(_text("name"),),
        passes="the tool was called; other calls are allowed",
        inconclusive=NO_CALLS,
        example=("getOrder",),
    ),
    Check(
        factory=tools.should_call_tools,
        kind="tools",
        rule=Rule.REQUIRING,
        parameters=(_NAMES,),
        passes="every named tool was called, in any order; other calls are allowed",
        inconclusive=NO_CALLS,
        example=("getOrder", "issueRefund"),
    ),
    Check(
        factory=tools.should_call_tools_in_order,
        kind="tool-order",
        rule=Rule.REQUIRING,
        parameters=(_NAMES,),
        passes="the names are a subsequence of the calls, ordered by their start",
        inconclusive="a named tool was never called (`tools` reports that)",
        example=("getOrder", "issueRefund"),
    ),
    Check(
        factory=tool_values.should_call_tool_with,
        kind="tool-arguments",
        rule=Rule.REQUIRING,
        parameters=(_text("tool"), _text("argument"), _text("value", Kind.VALUE)),
        passes='some call of the tool has that value: 12 equals 12.0, "4999" is not 4999, true is not 1, null only null',
        inconclusive=f"{NEVER_CALLED} (`tools` reports that)",
        example=("getOrder", "orderId", "o_43"),
    ),
    Check(
        factory=tool_values.tool_result_should_contain,
        kind="tool-results",
        rule=Rule.REQUIRING,
        parameters=(_text("tool"), _text("text")),
        passes="some result of the tool contains the text, ignoring case",
        inconclusive=f"{NEVER_CALLED}, or gave no result",
        example=("getOrder", "delivered"),
    ),
    Check(
        factory=tools.should_not_call_tool,
        kind="forbidden-tools",
        rule=Rule.FORBIDDING,
        parameters=(_NAMES,),
        passes="the tool was not called; of several, none was",
        inconclusive=NO_CALLS,
        example=("deleteAccount",),
    ),
    Check(
        factory=tools.should_not_call_tools,
        kind="forbidden-tools",
        rule=Rule.FORBIDDING,
        parameters=(_NAMES,),
        passes="none of the named tools was called",
        inconclusive=NO_CALLS,
        example=("deleteAccount", "closeAccount"),
    ),
    Check(
        factory=budgets.should_make_at_most_tool_calls,
        kind="tool-call-budget",
        rule=Rule.LIMIT,
        parameters=(_N,),
        passes="no more tool calls were made, nested Interactions included; 0 is a limit",
        inconclusive=NO_COUNT,
        example=(5,),
    ),
    Check(
        factory=budgets.should_make_at_most_model_calls,
        kind="model-call-budget",
        rule=Rule.LIMIT,
        parameters=(_N,),
        passes="no more model calls were made, nested Interactions included; 0 is a limit",
        inconclusive=NO_COUNT,
        example=(8,),
    ),
    Check(
        factory=budgets.should_use_at_most_tokens,
        kind="token-budget",
        rule=Rule.LIMIT,
        parameters=(_N,),
        passes="no more tokens (input and output) were used, nested Interactions included; 0 is a limit",
        inconclusive=NO_COUNT,
        example=(20000,),
    ),
    Check(
        factory=budgets.should_reply_within,
        kind="latency-budget",
        rule=Rule.LIMIT,
        parameters=(_text("duration", Kind.DURATION),),
        passes="the agent took no longer, nested Interactions included",
        inconclusive="the telemetry has no start or no end",
        example=("2s",),
    ),
    Check(
        factory=reply_text.reply_should_contain,
        kind="reply-contains",
        rule=Rule.REQUIRING,
        parameters=(_TEXTS,),
        passes="the reply contains every text, ignoring case",
        inconclusive=NOT_CAPTURED,
        example=("refunded",),
    ),
    Check(
        factory=reply_text.reply_should_not_contain,
        kind="reply-lacks",
        rule=Rule.FORBIDDING,
        parameters=(_TEXTS,),
        passes="the reply contains none of the texts, ignoring case",
        inconclusive=NOT_CAPTURED,
        example=("as an AI",),
    ),
    Check(
        factory=reply_text.reply_should_match,
        kind="reply-matches",
        rule=Rule.REQUIRING,
        parameters=(_text("regex", Kind.PATTERN),),
        passes="the regular expression matches anywhere in the reply; its dot matches line breaks",
        inconclusive=NOT_CAPTURED,
        example=(r"ref_\d+",),
    ),
    Check(
        factory=reply_text.reply_should_not_match,
        kind="reply-does-not-match",
        rule=Rule.FORBIDDING,
        parameters=(_text("regex", Kind.PATTERN),),
        passes="the regular expression matches nowhere in the reply; its dot matches line breaks",
        inconclusive=NOT_CAPTURED,
        example=(r"\bsk-[A-Za-z0-9]{20,}",),
    ),
    Check(
        factory=reply_numbers.reply_should_not_contain_luhn_number,
        kind="reply-lacks-luhn-number",
        rule=Rule.FORBIDDING,
        parameters=(Parameter(name="min", kind=Kind.COUNT), Parameter(name="max", kind=Kind.COUNT)),
        passes="no number of min to max digits (single spaces or dashes between them allowed) passes the Luhn check",
        inconclusive=NOT_CAPTURED,
        example=(15, 15),
    ),
    Check(
        factory=reply_numbers.reply_should_not_contain_payment_card,
        kind="reply-lacks-payment-card",
        rule=Rule.FORBIDDING,
        passes="no number of 13 to 19 digits passes the Luhn check, and no payment card was redacted from the reply",
        inconclusive=NOT_CAPTURED,
    ),
    Check(
        factory=reply_json.reply_should_be_json,
        kind="reply-json",
        rule=Rule.WHOLE,
        parameters=(Parameter(name="schema", kind=Kind.SCHEMA, required=False),),
        passes="the whole reply is JSON, and as the schema says where one is given",
        inconclusive=NOT_CAPTURED,
        example=({"type": "object", "required": ["amount"]},),
    ),
    Check(
        factory=failures.should_not_fail,
        kind="no-failure",
        rule=Rule.WHOLE,
        passes="the Interaction did not fail",
        inconclusive="the agent span never came",
    ),
    Check(
        factory=tools.tools_should_not_fail,
        kind="no-tool-errors",
        rule=Rule.FORBIDDING,
        passes="no tool call failed",
        inconclusive=NO_CALLS,
    ),
)

BY_NAME = {check.name: check for check in CHECKS}
