"""Reading Python literals."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator

import pytest

from otel_eval.conventions.reading.literals import MAX_REPR_CHARS, literal


@pytest.mark.parametrize("value", ["it's", {"a": [1, None, (2.5, True)]}, [], b"x", {1, 2}])
def test_what_repr_writes_is_read(value: object) -> None:
    """A repr of plain values is that value again."""
    assert literal(f" {value!r}\n") == value


@pytest.mark.parametrize(
    "text", ["", "hello", "f(1)", "[1, 2", "'\\x'", "\0", "(" * 5000, "-" * 5000 + "1", repr("x" * MAX_REPR_CHARS)]
)
def test_any_other_text_is_a_value_error(text: str) -> None:
    """No text makes the parser raise anything else."""
    with pytest.raises(ValueError, match=r"literal|malformed|long|null"):
        literal(text)


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns, and garbage is collected, as often as can be."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(5)
    yield
    gc.set_threshold(*threshold)
    sys.setswitchinterval(interval)


class Parsing:
    """Garbage that parses as it goes, as what libraries leave to the collector may."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        literal("[1, [2, [3]]]")


@pytest.mark.usefixtures("switching")
def test_threads_that_parse_at_the_same_time_do_not_disturb_one_another() -> None:
    """CPython 3.11 raises SystemError in one of them; each has its value all the same."""
    value = {"a": [{"b": [1, 2, {"c": (1, [2, {"x": 1}])}]}] * 30}
    read: list[object] = []

    def work() -> None:
        for _ in range(50):
            Parsing()
            read.append(literal(repr(value)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [value] * 200
