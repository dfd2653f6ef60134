"""Values, versions and ids."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from otel_eval import (
    Evaluator,
    Outcome,
    reply_should_contain,
    should_call_tool,
    should_call_tool_with,
    should_call_tools,
)
from otel_eval.evaluators.values import bare, clip, same, texts_in
from otel_eval.outcome import Passed


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (12, 12.0, True),
        ("4999", 4999, False),
        (True, 1, False),
        (False, 0, False),
        (True, True, True),
        (None, None, True),
        (None, 0, False),
        (None, "", False),
        (0, None, False),
        (2**63 + 1, float(2**63), False),
        (0.1 + 0.2, 0.3, False),
        ("a", "A", False),
        ([1, "a"], [1.0, "a"], True),
        ([1], [True], False),
        ([1, 2], [2, 1], False),
        ([1], [1, 2], False),
        ((1,), [1], True),
        ("a", ["a"], False),
        ({"a": 1, "b": None}, {"b": None, "a": 1.0}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({}, [], False),
        (float("nan"), float("nan"), False),
    ],
)
def test_values_are_equal_as_json_values_are(left: Any, right: Any, equal: bool) -> None:
    """12 equals 12.0, "4999" is not 4999, True is not 1, None only None; both ways round."""
    assert same(left, right) is equal
    assert same(right, left) is equal


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("o_43", "o_43"),
        ("4999", '"4999"'),
        (4999, "4999"),
        ("true", '"true"'),
        (True, "true"),
        ("", '""'),
        (" a", '" a"'),
        ("a, b", '"a, b"'),
        ("Größe", "Größe"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
    ],
)
def test_values_are_shown_so_that_they_can_be_told_apart(value: Any, text: str) -> None:
    """Text as it stands, but in quotes where it would read as a number, as nothing or as two."""
    assert bare(value) == text


def test_long_text_is_cut_on_one_line() -> None:
    """Line breaks become spaces, and the cut is marked."""
    assert clip("a\n  b") == "a b"
    assert clip("x" * 300) == "x" * 199 + "…"


def test_a_value_is_sought_in_all_its_forms() -> None:
    """As JSON with and without spaces, and each text in it without escapes."""
    assert set(texts_in({"a": ['say "x"']})) == {'{"a":["say \\"x\\""]}', '{"a": ["say \\"x\\""]}', 'say "x"'}


def test_the_version_is_of_what_is_checked() -> None:
    """Equal definitions have one version, different ones another, and the type of a value counts."""
    assert should_call_tool("a").version == should_call_tools("a").version
    versions = {
        evaluator.version
        for evaluator in (
            should_call_tool("a"),
            should_call_tool("b"),
            should_call_tools("a", "b"),
            should_call_tools("b", "a"),
            reply_should_contain("a"),
            should_call_tool_with("a", "b", "1"),
            should_call_tool_with("a", "b", 1),
            should_call_tool_with("a", "b", True),
        )
    }
    assert len(versions) == 8
    assert all(len(version) == 12 and int(version, 16) >= 0 for version in versions)


def test_the_version_is_the_same_in_another_process() -> None:
    """Replicas and tomorrow's process compute the same version, whatever the hash seed."""
    code = "import otel_eval; print(otel_eval.should_call_tool_with('a', 'b', {'c': 1, 'd': 'x'}).version)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    assert done.stdout.strip() == should_call_tool_with("a", "b", {"d": "x", "c": 1}).version


@pytest.mark.parametrize(
    ("evaluator", "evaluator_id"),
    [
        (should_call_tool("getOrder"), "should_call_tool(getOrder)"),
        (should_call_tools("getOrder"), "should_call_tool(getOrder)"),
        (should_call_tools("a", "b"), "should_call_tools(a, b)"),
        (should_call_tool_with("getOrder", "orderId", "o_43"), "should_call_tool_with(getOrder, orderId, o_43)"),
        (reply_should_contain("one\nline"), 'reply_should_contain("one\\nline")'),
    ],
)
def test_default_ids_read_as_the_call(evaluator: Evaluator, evaluator_id: str) -> None:
    """On one line, with text in quotes only where it would be misread."""
    assert evaluator.id == evaluator_id


def test_long_ids_are_cut_and_still_differ() -> None:
    """A hundred characters name it, the last eight digits tell it from others with the same beginning."""
    one, other = reply_should_contain("x" * 200 + "a").id, reply_should_contain("x" * 200 + "b").id
    assert one != other
    assert len(one) == len(other) <= 100
    assert one.startswith("reply_should_contain(xxx")


def made(factor: int) -> Evaluator:
    class Custom(Evaluator):
        check = "custom"

        def __init__(self, limit: object) -> None:
            self.limit = limit

        def evaluate(self, *_: object) -> Outcome:
            return Passed(f"{self.limit}{factor}")

    return Custom(limit={"b": {3, 1}, "f": made, "o": object()})


def test_the_version_of_a_custom_class_is_of_its_source_and_configuration() -> None:
    """Instance attributes count, addresses in memory do not: the same code and settings give the same version."""
    assert made(1).version == made(1).version
    changed = made(1)
    changed.limit = 2  # type: ignore[attr-defined]
    assert changed.version != made(1).version


def test_a_changed_base_class_is_a_changed_definition() -> None:
    """What a class inherits from another of the user's decides too."""

    def derived(base: type[Evaluator]) -> Evaluator:
        class Derived(base):  # type: ignore[misc, valid-type]
            pass

        return Derived()

    class Strict(Evaluator):
        check = "style"

        def evaluate(self, *_: object) -> Outcome:
            return Passed("strict")

    class Lax(Evaluator):
        check = "style"

        def evaluate(self, *_: object) -> Outcome:
            return Passed("lax")

    assert derived(Strict).version != derived(Lax).version
    assert derived(Strict).version == derived(Strict).version
