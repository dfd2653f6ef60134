"""Exact evaluators from a configuration, and the table behind it."""

from __future__ import annotations

import inspect
import re
from typing import Any

import jsonschema
import pytest

import otel_eval
from otel_eval.evaluators.checks import CHECKS, Check
from otel_eval.evaluators.errors import EvaluatorDefinitionError
from otel_eval.evaluators.from_config import check_schema, from_check

every_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)


def written(check: Check) -> list[Any]:
    """Every way in which a configuration may write the check's example."""
    ways: list[Any] = [{check.name: list(check.example)}]
    if not any(parameter.required for parameter in check.parameters):
        ways += [check.name] if not check.example else []
    if check.parameters and check.parameters[0].variadic:
        ways.append({check.name: {check.parameters[0].name: list(check.example)}})
        ways += [{check.name: check.example[0]}] if len(check.example) == 1 else []
        return ways
    if check.parameters:
        ways.append({check.name: {p.name: value for p, value in zip(check.parameters, check.example, strict=True)}})
    if len(check.example) == 1 and not isinstance(check.example[0], dict):
        ways.append({check.name: check.example[0]})
    if not check.parameters:
        ways += [{check.name: None}, {check.name: {}}]
    return ways


@every_check
def test_every_way_to_write_a_check_makes_the_same_evaluator(check: Check) -> None:
    """Bare, with one argument, with a list or with a mapping: what the factory makes; and the JSON schema allows each."""
    schema = check_schema()
    for spec in written(check):
        assert from_check(spec) == check.factory(*check.example), spec
        jsonschema.validate(spec, schema)


@every_check
def test_the_table_says_what_the_factories_take(check: Check) -> None:
    """Names, order, defaults and variadic parameters are those of the function; the check's name is the evaluator's."""
    parameters = list(inspect.signature(check.factory).parameters.values())
    assert [p.name for p in parameters] == [p.name for p in check.parameters]
    assert [p.kind is p.VAR_POSITIONAL for p in parameters] == [p.variadic for p in check.parameters]
    required = [p.default is p.empty for p in parameters]
    assert required == [p.required for p in check.parameters]
    assert check.factory(*check.example).check == check.kind
    assert getattr(otel_eval, check.name) is check.factory


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("should_cal_tool", "there is no check 'should_cal_tool'; did you mean should_call_tool or "),
        ({"tool_called": "a"}, "there is no check 'tool_called'; there are should_call_tool, "),
        (3, "a check is the name of one check, alone or with its arguments as in {should_call_tool: getOrder}, not 3"),
        ({}, "{should_call_tool: getOrder}, not 0 of them"),
        ({"should_not_fail": None, "should_call_tool": "a"}, "{should_call_tool: getOrder}, not 2 of them"),
        ("should_call_tool", "should_call_tool(name) takes 1 argument, given none"),
        ({"should_call_tool": ["a", "b"]}, "should_call_tool(name) takes 1 argument, given 2"),
        ({"should_call_tools": []}, "should_call_tools(*names) takes at least one argument, given none"),
        ({"should_not_fail": 3}, "should_not_fail() takes no argument, given 1"),
        ({"reply_should_be_json": [{}, {}]}, "reply_should_be_json(schema=None) takes 0 to 1 argument, given 2"),
        ({"should_call_tool": True}, "should_call_tool: expected text for name of a tool, was True (bool): put it in quotes"),
        ({"should_call_tools": {"names": [["a"]]}}, "should_call_tools: expected text for name of a tool, was ['a'] (list)"),
        ({"should_call_tool_with": {"tool": "a", "argumnt": "b", "value": 1}},
         "should_call_tool_with has no parameter 'argumnt'; did you mean argument? (it takes tool, argument, value)"),
        ({"should_call_tool_with": {"tool": "a"}},
         "should_call_tool_with(tool, argument, value) needs argument, value too"),
        ({"should_not_fail": {"a": 1}}, "should_not_fail has no parameter 'a' (it takes nothing)"),
        ({"should_make_at_most_tool_calls": -1}, "expected a whole number of at least 0 for n, was -1"),
        ({"should_reply_within": "10"}, "should_reply_within: '10' is not a duration: write it with its unit"),
        ({"reply_should_match": "("}, "reply_should_match: '(' is not a regular expression: missing ) at position 1"),
    ],
)  # fmt: skip
def test_a_mistake_says_what_is_allowed_and_what_was_given(spec: Any, message: str) -> None:
    """Every error is a ValueError whose text stands for itself after a key's path."""
    with pytest.raises(EvaluatorDefinitionError, match=re.escape(message)):
        from_check(spec)


@pytest.mark.parametrize(
    "spec", ["should_cal_tool", {"should_call_tool": []}, {"should_call_tool": 1}, {"should_not_fail": 1}, {}, 3]
)
def test_the_json_schema_refuses_mistakes_too(spec: Any) -> None:
    """An editor that knows the schema shows the mistake before the start does."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(spec, check_schema())


def test_a_null_value_is_a_value() -> None:
    """An argument that must be null can be written in a mapping and in a list."""
    mapping = {"should_call_tool_with": {"tool": "a", "argument": "b", "value": None}}
    assert from_check(mapping) == from_check({"should_call_tool_with": ["a", "b", None]})
    assert from_check(mapping).id == "should_call_tool_with(a, b, null)"
