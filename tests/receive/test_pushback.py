"""Requests that are sent back are told of twice: when it begins, and when it is over for good."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_eval.journal import Journal, JournalFull, JournalUnwritable
from otel_eval.receive.intake import Intake
from otel_eval.receive.pushback import QUIET_S, Pushback
from otel_eval.receive.refusal import Code, Refused
from otel_eval.testing.clock import ManualClock
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.spans import conversation

BEGINS = "telemetry is refused, senders are asked to come back: the limit is reached"


def test_a_journal_at_its_limit_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """Every other request fits for two minutes: a line when it begins, one when nothing was refused for a while."""
    clock = ManualClock()
    pushback = Pushback(clock)
    pushback.taken()
    for _ in range(120):
        pushback.refused(JournalFull("the limit is reached"))
        pushback.taken()
        clock.advance(1)
    assert caplog.messages == [BEGINS]
    clock.advance(QUIET_S - 2)
    pushback.taken()
    assert caplog.messages == [BEGINS]
    clock.advance(1)
    pushback.taken()
    pushback.taken()
    assert caplog.messages == [BEGINS, "telemetry is taken again: 120 requests were sent back within 119 s"]


def test_the_next_time_is_told_of_again(caplog: pytest.LogCaptureFixture) -> None:
    """And counts for itself."""
    clock = ManualClock()
    pushback = Pushback(clock)
    for _ in range(2):
        pushback.refused(JournalFull("the limit is reached"))
        clock.advance(QUIET_S)
        pushback.taken()
    assert caplog.messages == [BEGINS, "telemetry is taken again: 1 request was sent back within 0 s"] * 2


def test_another_trouble_is_told_of_as_well(caplog: pytest.LogCaptureFixture) -> None:
    """A full journal, and a disk that refuses on top of it, are two things to see to; one end is told of both."""
    clock = ManualClock()
    pushback = Pushback(clock)
    for _ in range(2):
        pushback.refused(JournalFull("the limit is reached"))
        pushback.refused(JournalUnwritable("no space left"))
    clock.advance(QUIET_S)
    pushback.taken()
    assert caplog.messages == [
        BEGINS,
        "telemetry is refused, senders are asked to come back: no space left",
        "telemetry is taken again: 4 requests were sent back within 0 s",
    ]


async def test_what_the_intake_refuses_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By the clock of the server."""
    clock = ManualClock()
    body = otlp_request(conversation())
    async with await Journal.open(tmp_path, clock=clock, max_bytes=len(body)) as journal:
        intake = Intake(journal, clock=clock)
        await intake.accept("traces", "protobuf", body, "grpc")
        for _ in range(3):
            with pytest.raises(Refused) as refused:
                await intake.accept("traces", "protobuf", body, "grpc")
            assert refused.value.code is Code.FULL
        await journal.release([1])
        clock.advance(QUIET_S)
        await intake.accept("traces", "protobuf", body, "grpc")
    assert len(caplog.messages) == 2
    assert caplog.messages[1] == "telemetry is taken again: 3 requests were sent back within 0 s"
