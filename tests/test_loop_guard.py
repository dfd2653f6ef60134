"""The marks by which we know our own telemetry again."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from otel_eval.loop_guard import LoopGuard, marked, unmarked

GUARD = LoopGuard(b"k" * 32)
OTHER = LoopGuard(b"o" * 32)


def test_a_trace_of_ours_is_known_by_its_id_alone() -> None:
    """Every replica with the key knows the id, a replica with another key does not."""
    trace_id = GUARD.trace_id("evaluation")
    assert len(trace_id) == 32
    assert GUARD.trace_id("evaluation") == trace_id
    assert LoopGuard(b"k" * 32).owns_trace(trace_id)
    assert not OTHER.owns_trace(trace_id)


def test_a_span_of_ours_is_known_by_its_id_alone() -> None:
    """The span of an evaluation and those below it are told from anybody else's."""
    ids = {GUARD.span_id("evaluation"), GUARD.span_id("evaluation", "judge-0"), GUARD.span_id("other")}
    assert len(ids) == 3
    assert all(GUARD.owns_span(span_id) and not OTHER.owns_span(span_id) for span_id in ids)


def test_foreign_ids_are_not_ours() -> None:
    """Ten thousand random spans and traces pass for foreign."""
    assert not any(GUARD.owns_span(os.urandom(8).hex()) for _ in range(10_000))
    assert not any(GUARD.owns_trace(os.urandom(16).hex()) for _ in range(10_000))


@pytest.mark.parametrize("odd", ["", "zz", "0" * 15, "g" * 16, "0" * 31, "é" * 32])
def test_odd_ids_are_not_ours(odd: str) -> None:
    """Ids of a wrong length or alphabet raise nothing."""
    assert not GUARD.owns_span(odd)
    assert not GUARD.owns_trace(odd)


def test_a_system_message_is_known_by_its_fingerprint() -> None:
    """The fingerprint is found inside a longer text, and only with the key that made it."""
    text = f"You judge replies.\nReply in JSON. {GUARD.fingerprint('evaluation')}\n"
    assert GUARD.owns_text(text)
    assert not OTHER.owns_text(text)
    assert not GUARD.owns_text("oe-0123456789abcdef-0123456789abcdef0123456789abcdef")


def test_the_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    """Two starts on one directory share the key, and nobody else may read it."""
    path = tmp_path / "loop-guard.key"
    first, second = LoopGuard.from_file(path), LoopGuard.from_file(path)
    assert second.owns_trace(first.trace_id("x"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_short_key_is_refused() -> None:
    """A key that could be guessed is no key."""
    with pytest.raises(ValueError, match="at least 16 bytes"):
        LoopGuard(b"short")


def test_a_system_message_loses_its_mark() -> None:
    """Only a mark of our form at its very end."""
    message = marked("You judge.", GUARD.fingerprint("e"))
    assert (unmarked(message), GUARD.owns_text(message)) == ("You judge.", True)
    for other in ("You judge.", "", f"{message}!", "You judge.\n\n(request oe-12)"):
        assert unmarked(other) == other
