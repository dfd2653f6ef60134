"""Deaths are counted by what was under way, from one process to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_eval.crashes.notes import Notes
from otel_eval.crashes.suspects import DEATHS, FILE, KEPT_NS, Stock, Suspects, disregard, take_stock


def died(directory: Path, *under_way: str) -> None:
    """A process began, and ended with that under way."""
    notes = Notes.begin(directory, 8)
    for text in under_way:
        notes.put(text)
    notes.close()


def test_what_was_under_way_at_four_deaths_is_convicted_once(tmp_path: Path) -> None:
    """At the fourth death, and no more is said of it afterwards; what was under way at fewer is counted."""
    died(tmp_path, "request:1", "request:2")
    assert take_stock(tmp_path, 1) == Stock(under_way=("request:1", "request:2"))
    died(tmp_path, "request:1")
    assert take_stock(tmp_path, 2) == Stock(under_way=("request:1",), suspected=("request:1",))
    died(tmp_path, "request:1", "request:3")
    assert take_stock(tmp_path, 3) == Stock(under_way=("request:1", "request:3"))
    died(tmp_path, "request:1")
    assert take_stock(tmp_path, 4).convicted == ("request:1",)
    died(tmp_path, "request:1")
    assert take_stock(tmp_path, 5).convicted == ()
    counted = {text: each.deaths for text, each in Suspects.load(tmp_path).under_way.items()}
    assert counted == {"request:1": DEATHS + 1, "request:2": 1, "request:3": 1}


def test_a_death_is_counted_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever starts the next process, and the next server; it is told in one line, the likeliest first."""
    for _ in range(2):
        died(tmp_path, "request:7", *(f"trace:{number}" for number in range(6)))
        take_stock(tmp_path, 1)
        assert take_stock(tmp_path, 1) == Stock()
        died(tmp_path, "request:7")
    take_stock(tmp_path, 1)
    assert caplog.messages == [
        "under way when the judging process died: request 7, trace 0, trace 1, trace 2, trace 3 and 2 more",
        "under way when the judging process died: request 7 (at 2 deaths), trace 0 (at 2 deaths), trace 1 (at 2 deaths), "
        "trace 2 (at 2 deaths), trace 3 (at 2 deaths) and 2 more",
        "under way when the judging process died: request 7 (at 3 deaths)",
    ]


def test_an_end_in_good_order_is_no_death(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nor is one that somebody wanted."""
    died(tmp_path)
    assert take_stock(tmp_path, 1) == Stock()
    died(tmp_path, "request:1")
    disregard(tmp_path)
    assert take_stock(tmp_path, 1) == Stock()
    assert caplog.messages == []
    assert not (tmp_path / FILE).exists()


def test_a_suspicion_grows_old(tmp_path: Path) -> None:
    """After a day without another death nothing is known of it."""
    died(tmp_path, "request:1")
    take_stock(tmp_path, 1)
    died(tmp_path, "request:2")
    take_stock(tmp_path, KEPT_NS + 2)
    assert list(Suspects.load(tmp_path).under_way) == ["request:2"]


@pytest.mark.parametrize(
    "content",
    ["", "no json", "[]", '{"format": 1}', '{"format": 2, "under_way": [], "convicted": {}}', '{"format": 2}'],
)
def test_what_cannot_be_read_suspects_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str) -> None:
    """It is said, and the next death is counted."""
    (tmp_path / FILE).write_text(content)
    died(tmp_path, "request:1")
    take_stock(tmp_path, 1)
    assert "nothing is suspected" in caplog.messages[0]
    assert list(Suspects.load(tmp_path).under_way) == ["request:1"]


def test_what_cannot_be_kept_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A full disk costs some deaths more, not the server."""
    suspects = Suspects()
    suspects.count(["request:1"], 1)
    suspects.save(tmp_path / "nowhere")
    assert "cannot be written" in caplog.text


def test_convictions_are_kept_too(tmp_path: Path) -> None:
    """By evaluator and time, so that one that kills again and again can be left alone."""
    suspects = Suspects(convicted={"mine 1": {"ab": 5, "cd": 50}, "yours 1": {"ef": 5}})
    suspects.save(tmp_path)
    found = Suspects.load(tmp_path)
    assert found.convicted == suspects.convicted
    found.forget(10)
    assert found.convicted == {"mine 1": {"cd": 50}}
