"""What is under way is found by whoever comes after the process that died of it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from otel_eval.crashes.notes import FILE, NO_SLOT, Notes, left, wipe


def test_what_was_not_taken_back_is_left(tmp_path: Path) -> None:
    """And nothing else; new notes begin with nothing."""
    notes = Notes.begin(tmp_path, 4)
    slots = [notes.put(f"request:{number}") for number in range(3)]
    notes.take_back(slots[1])
    assert set(left(tmp_path)) == {"request:0", "request:2"}
    notes.close()
    assert set(left(tmp_path)) == {"request:0", "request:2"}
    Notes.begin(tmp_path, 4).close()
    assert left(tmp_path) == ()


def test_it_survives_a_kill(tmp_path: Path) -> None:
    """SIGKILL leaves no time for anything: what was noted is in the file all the same."""
    code = (
        "import os, pathlib, signal, sys\n"
        "from otel_eval.crashes.notes import Notes\n"
        "notes = Notes.begin(pathlib.Path(sys.argv[1]), 8)\n"
        "notes.take_back(notes.put('request:1'))\n"
        "notes.put('evaluation:' + 'ab' * 16)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert left(tmp_path) == ("evaluation:" + "ab" * 16,)


def test_more_than_there_is_room_for_is_not_noted(tmp_path: Path) -> None:
    """It is done all the same, and there is room again as soon as something ended."""
    notes = Notes.begin(tmp_path, 1)
    first = notes.put("request:1")
    assert notes.put("request:2") == NO_SLOT
    notes.take_back(NO_SLOT)
    notes.take_back(first)
    assert notes.put("request:3") != NO_SLOT
    assert left(tmp_path) == ("request:3",)


def test_a_shorter_text_in_the_place_of_a_longer_one(tmp_path: Path) -> None:
    """Nothing of the longer one is read."""
    notes = Notes.begin(tmp_path, 1)
    notes.take_back(notes.put("trace:" + "f" * 32))
    notes.put("trace:ab")
    assert left(tmp_path) == ("trace:ab",)


@pytest.mark.parametrize("content", [b"", b"\xff" * 200, bytes([10]) + b"no work at all", bytes(range(64))])
def test_what_is_no_note_is_passed_over(tmp_path: Path, content: bytes) -> None:
    """A machine that lost power may have left anything."""
    (tmp_path / FILE).write_bytes(content)
    assert left(tmp_path) == ()


def test_nothing_is_left_where_there_are_no_notes(tmp_path: Path) -> None:
    """Nor after they were wiped."""
    assert left(tmp_path) == ()
    wipe(tmp_path)
    Notes.begin(tmp_path, 1).put("request:1")
    wipe(tmp_path)
    assert left(tmp_path) == ()


def test_a_directory_that_takes_no_file_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What is under way is done all the same."""
    notes = Notes.begin(tmp_path / "nowhere", 1)
    notes.take_back(notes.put("request:1"))
    assert len(caplog.messages) == 1
    assert "deaths are not looked into" in caplog.messages[0]
