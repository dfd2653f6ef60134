"""Exact evaluators from a configuration's ``check:``, with errors that say what is allowed and what was given.

A check is written as its bare name, with one argument, with a list of them, or with a mapping of parameter names::

    check: should_not_fail
    check: {should_call_tool: getOrder}
    check: {should_call_tools: [getOrder, issueRefund]}
    check: {should_call_tool_with: {tool: getOrder, argument: orderId, value: o_43}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.evaluators.checks import BY_NAME, Check, Kind, Parameter
from otel_eval.evaluators.errors import EvaluatorDefinitionError, did_you_mean
from otel_eval.evaluators.exact import ExactEvaluator

_TYPES: dict[Kind, dict[str, Any]] = {
    Kind.TEXT: {"type": "string", "minLength": 1},
    Kind.PATTERN: {"type": "string", "minLength": 1},
    Kind.COUNT: {"type": "integer", "minimum": 0},
    Kind.DURATION: {"type": ["string", "number"]},
    Kind.VALUE: {},
    Kind.SCHEMA: {"type": ["object", "boolean"]},
}


def from_check(spec: Any) -> ExactEvaluator:
    """The evaluator that a ``check:`` describes. Raises EvaluatorDefinitionError, a ValueError, for what describes none."""
    name, given = _name_and_argument(spec)
    check = BY_NAME.get(name)
    if check is None:
        raise EvaluatorDefinitionError(f"there is no check {name!r}{did_you_mean(name, BY_NAME) or _all_names()}")
    positional, named = _arguments(check, given)
    return check.factory(*positional, **named)


def check_schema() -> dict[str, Any]:
    """A JSON schema for what ``check:`` takes, to be put into the schema of the whole configuration."""
    bare = [check.name for check in BY_NAME.values() if not any(parameter.required for parameter in check.parameters)]
    return {
        "oneOf": [
            {"enum": bare},
            *(
                {
                    "type": "object",
                    "description": f"Passes when {check.passes}.",
                    "properties": {check.name: _argument_schema(check)},
                    "required": [check.name],
                    "additionalProperties": False,
                }
                for check in BY_NAME.values()
            ),
        ]
    }


def signature(check: Check) -> str:
    """How a check is called: ``should_call_tool_with(tool, argument, value)``."""
    return f"{check.name}({', '.join(_written(parameter) for parameter in check.parameters)})"


def _name_and_argument(spec: Any) -> tuple[str, Any]:
    if isinstance(spec, str):
        return spec, None
    if not isinstance(spec, Mapping) or len(spec) != 1:
        given = f"{len(spec)} of them" if isinstance(spec, Mapping) else repr(spec)
        raise EvaluatorDefinitionError(
            f"a check is the name of one check, alone or with its arguments as in {{should_call_tool: getOrder}}, not {given}"
        )
    name, argument = next(iter(spec.items()))
    return str(name), argument


def _arguments(check: Check, given: Any) -> tuple[list[Any], dict[str, Any]]:
    if isinstance(given, Mapping):
        return _from_mapping(check, given)
    values = _values(check, given)
    least = sum(parameter.required for parameter in check.parameters)
    variadic = any(parameter.variadic for parameter in check.parameters)
    if len(values) < least or (len(values) > len(check.parameters) and not variadic):
        count = "none" if not values else str(len(values))
        raise EvaluatorDefinitionError(f"{signature(check)} takes {_how_many(check)}, given {count}")
    return values, {}


def _values(check: Check, given: Any) -> list[Any]:
    if isinstance(given, list | tuple):
        return list(given)
    takes_null = len(check.parameters) == 1 and check.parameters[0].kind is Kind.VALUE
    return [] if given is None and not takes_null else [given]


def _from_mapping(check: Check, given: Mapping[Any, Any]) -> tuple[list[Any], dict[str, Any]]:
    known = [parameter.name for parameter in check.parameters]
    for key in given:
        if key not in known:
            takes = ", ".join(known) if known else "nothing"
            raise EvaluatorDefinitionError(
                f"{check.name} has no parameter {key!r}{did_you_mean(str(key), known)} (it takes {takes})"
            )
    missing = [parameter.name for parameter in check.parameters if parameter.required and parameter.name not in given]
    if missing:
        raise EvaluatorDefinitionError(f"{signature(check)} needs {', '.join(missing)} too")
    if check.parameters and check.parameters[0].variadic:
        values = given[known[0]]
        return list(values) if isinstance(values, list | tuple) else [values], {}
    return [], dict(given)


def _argument_schema(check: Check) -> dict[str, Any]:
    if not check.parameters:
        return {"enum": [None, [], {}]}
    first = check.parameters[0]
    mapping = {
        "type": "object",
        "properties": {parameter.name: _parameter_schema(parameter) for parameter in check.parameters},
        "required": [parameter.name for parameter in check.parameters if parameter.required],
        "additionalProperties": False,
    }
    if first.variadic:
        return {"anyOf": [_parameter_schema(first), mapping]}
    positional = {
        "type": "array",
        "prefixItems": [_parameter_schema(parameter) for parameter in check.parameters],
        "items": False,
        "minItems": sum(parameter.required for parameter in check.parameters),
    }
    if len(check.parameters) > 1:
        return {"anyOf": [positional, mapping]}
    if first.kind is Kind.SCHEMA:
        return {"anyOf": [{"type": ["boolean", "null"]}, positional, mapping]}
    return {"anyOf": [_TYPES[first.kind], positional, mapping]}


def _parameter_schema(parameter: Parameter) -> dict[str, Any]:
    one = _TYPES[parameter.kind]
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]} if parameter.variadic else one


def _written(parameter: Parameter) -> str:
    name = f"*{parameter.name}" if parameter.variadic else parameter.name
    return name if parameter.required else f"{name}=None"


def _how_many(check: Check) -> str:
    if not check.parameters:
        return "no argument"
    if check.parameters[0].variadic:
        return "at least one argument"
    least = sum(parameter.required for parameter in check.parameters)
    most = len(check.parameters)
    number = str(most) if least == most else f"{least} to {most}"
    return f"{number} argument{'s' if most > 1 else ''}"


def _all_names() -> str:
    return f"; there are {', '.join(BY_NAME)}"
