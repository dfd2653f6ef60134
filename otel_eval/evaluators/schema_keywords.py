"""The keywords of JSON Schema that ``jsonschema`` does in a time that a reply can choose, done here in one that it cannot.

``pattern`` and its kin are searched with a time limit, as the regular expressions of other checks are; ``uniqueItems``
compares digests rather than each item with each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import regex
from jsonschema.exceptions import ValidationError

from otel_eval.evaluators.patterns import TIME_LIMIT_SECONDS, PatternTooSlow


def pattern(validator: Any, wanted: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """As JSON Schema has it. Raises PatternTooSlow."""
    if validator.is_type(instance, "string") and not _matches(wanted, instance):
        yield ValidationError(f"{instance!r} does not match {wanted!r}")


def pattern_properties(
    validator: Any, wanted: Mapping[str, Any], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    """As JSON Schema has it. Raises PatternTooSlow."""
    if not validator.is_type(instance, "object"):
        return
    for expression, subschema in wanted.items():
        for name, value in instance.items():
            if _matches(expression, name):
                yield from validator.descend(value, subschema, path=name, schema_path=expression)


def additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """As JSON Schema has it. Raises PatternTooSlow."""
    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extras = [name for name in instance if name not in named and not any(_matches(known, name) for known in patterns)]
    if isinstance(allowed, Mapping):
        for name in extras:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and extras:
        listed = ", ".join(repr(name) for name in extras[:20])
        yield ValidationError(f"Additional properties are not allowed ({listed} unexpected)")


def unique_items(validator: Any, wanted: bool, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """As JSON Schema has it: 1 and 1.0 are the same, 1 and true are not."""
    if wanted and validator.is_type(instance, "array") and len({_digest(item) for item in instance}) < len(instance):
        yield ValidationError("has items that are not unique")


KEYWORDS = {
    "pattern": pattern,
    "patternProperties": pattern_properties,
    "additionalProperties": additional_properties,
    "uniqueItems": unique_items,
}


def _matches(expression: str, text: str) -> bool:
    try:
        return regex.search(expression, text, timeout=TIME_LIMIT_SECONDS) is not None
    except TimeoutError:
        raise PatternTooSlow(
            f"the schema's pattern {expression} took more than {TIME_LIMIT_SECONDS:g} s over {len(text)} characters: "
            "it backtracks too much"
        ) from None


def _digest(value: Any) -> str:
    return json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"))


def _canonical(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    return value
