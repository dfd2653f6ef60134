"""What telemetry says is shown on terminals, and does not steer them: no escape sequence of an agent's gets through."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from otel_eval.cli.interactions import Format, write
from otel_eval.cli.live import details, headline, verdict
from otel_eval.dispatch import Accepted
from otel_eval.dispatch.bindings import Reason
from otel_eval.interaction import Gap, GapKind
from otel_eval.outcome import Failed
from otel_eval.testing.interactions import interaction, tool_call
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.records import evaluation_record
from otel_eval.testing.spans import Tool, conversation

STEERING = "\x1b]0;mine\x07\x1b[2J\x9b31m\u202eback\u2028\u2066"


@pytest.mark.parametrize("where", ["agent", "asked", "reply", "failure", "tool"])
def test_the_table_of_interactions(tmp_path: Path, where: str) -> None:
    """Names as well as texts."""
    given = {where: f"odd{STEERING}"} if where != "tool" else {"tools": [Tool(name=f"odd{STEERING}")]}
    path = tmp_path / "a.pb"
    path.write_bytes(otlp_request(conversation(**given)))
    out = io.StringIO()
    write([path], Format.TABLE, out)
    assert "odd" in out.getvalue()
    assert not set("\x1b\x07\x9b\u202e\u2028\u2066") & set(out.getvalue())


def test_the_lines_of_a_server() -> None:
    """Whatever the line is about."""
    odd = interaction(
        agent=f"a{STEERING}",
        asked=f"b{STEERING}",
        reply=f"c{STEERING}",
        tool_calls=[tool_call(f"d{STEERING}", {}, "x")],
        gaps=(Gap(field=f"e{STEERING}", kind=GapKind.TRUNCATED),),
    )
    record = evaluation_record(odd, f"f{STEERING}", Failed(f"g{STEERING}"))
    accepted = Accepted(interaction=odd, revision=1, decisions=(), disposition="evaluated")
    out = io.StringIO()
    for line in (headline(accepted), *details(odd), verdict(record)):
        Console(file=out).print(line)
    assert out.getvalue().count(r"\x1b[2J") == len("abcdefg")
    assert not set("\x1b\x07\x9b\u202e\u2028\u2066") & set(out.getvalue())


def test_a_failed_interaction_is_called_so_once() -> None:
    """That it is not judged as it failed, and that it failed, are one word in metrics; on a line both would read as a slip."""
    failed = interaction(failure="boom")
    accepted = Accepted(interaction=failed, revision=1, decisions=(), disposition=Reason.FAILED)
    out = io.StringIO()
    Console(file=out, width=200).print(headline(accepted))
    assert out.getvalue() == f"support-agent {failed.id} failed not judged\n"
