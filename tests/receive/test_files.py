"""Recordings are read from files and folders, in name order, with errors that name the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_eval.receive.files import UnreadableRecording, read_path
from otel_eval.testing.otlp import otlp_logs_request, otlp_request
from otel_eval.testing.spans import agent_span, log_record, span


def json_request(name: str) -> dict[str, object]:
    """An OTLP/JSON request with one span of that name."""
    one = {"traceId": "a" * 32, "spanId": "b" * 16, "name": name}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}


def test_a_folder_is_one_stream_in_name_order(tmp_path: Path) -> None:
    """Requests of both encodings are read by name; metrics and other JSON are passed over."""
    (tmp_path / "00002.jsonl").write_text("\n".join(json.dumps(json_request(name)) for name in ("c", "d")) + "\n\n")
    (tmp_path / "00001.json").write_text(json.dumps(json_request("b")))
    (tmp_path / "00000-traces.pb").write_bytes(otlp_request([span("a")]))
    (tmp_path / "00003-metrics.pb").write_bytes(b"\xff")
    (tmp_path / "expected.json").write_text('{"interactions": []}')
    (tmp_path / "metrics.json").write_text('{"resourceMetrics": []}')
    assert [span.name for span in read_path(tmp_path).spans] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("name", ["x.pb", "x-logs.pb"])
def test_the_signal_is_known_by_name_or_content(tmp_path: Path, name: str) -> None:
    """A raw request of logs is recognised, also where its name does not say so."""
    agent = agent_span()
    body = otlp_logs_request([log_record("gen_ai.choice", span=agent, body={"index": 0})])
    (tmp_path / name).write_bytes(body)
    recording = read_path(tmp_path / name)
    assert [record.span_id for record in recording.logs] == [agent.span_id]
    assert recording.spans == []


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.pb", b"\xff\xff\xff", "a.pb"),
        ("a-traces.pb", b"\xff\xff\xff", "a-traces.pb"),
        ("a.json", b"{", "a.json"),
        ("a.jsonl", b'{}\n{"resourceSpans": []}\n{\n', "line 3"),
        ("a.json", b'{}\n{"resourceSpans": []}\n{\n{}', "line 3"),
        ("a.jsonl", b"{", "line 1"),
        ("a.jsonl", b'{"resourceSpans": [\n{', "line 1"),
        ("a.txt", b"", ".txt"),
        ("a.txt", b"hello", ".txt"),
        ("a.jsonl.gz", b"\x1f\x8b", ".gz"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    """The error says which file, and which line of it."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableRecording, match=told.replace(".", r"\.")) as error:
        read_path(tmp_path / name)
    assert name in str(error.value)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.log", "traces"])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("names", ["b", "bcd"])
def test_requests_are_read_line_by_line_or_whole_under_any_name(
    tmp_path: Path, name: str, indent: int | None, names: str
) -> None:
    """As the collector's file exporter writes them, whatever its ``path`` is; one request may go over several lines."""
    many = len(names) > 1
    texts = [json.dumps(json_request(each), indent=None if many else indent) for each in names]
    (tmp_path / name).write_text("\n" + "\n".join(texts) + "\n")
    recording = read_path(tmp_path / name)
    assert [span.name for span in recording.spans] == list(names)
    assert recording.warnings == []


@pytest.mark.parametrize("cut", [b"{", b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "\xc3', b"  {"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_last_line_that_is_still_being_written_is_left_out_and_told(tmp_path: Path, name: str, cut: bytes) -> None:
    """What was written whole is read; the folder's other files, too."""
    (tmp_path / name).write_bytes(json.dumps(json_request("a")).encode() + b"\n\n" + cut)
    (tmp_path / "b.json").write_text(json.dumps(json_request("b")))
    recording = read_path(tmp_path)
    assert [span.name for span in recording.spans] == ["a", "b"]
    assert recording.warnings == [f"{tmp_path / name}: line 3, the last one, is cut and left out"]


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A missing path is an error, not an empty stream."""
    with pytest.raises(UnreadableRecording, match="no such file"):
        read_path(tmp_path / "nothing")
