"""Recorded telemetry from disk: a file, or a folder read as one stream in the order of its names.

``.pb`` is a raw OTLP request, whose signal stands in its name (``00000-traces.pb``, ``00001-logs.pb``) or else is
recognised by its content; ``.json`` and ``.jsonl`` are OTLP/JSON, one request or a request a line, as the collector's file
exporter writes them under either name. A file that is named may be called anything, if JSON is what it holds. Metrics,
and JSON that is no OTLP, are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from otel_eval.receive.decode import MalformedRequest, decode_logs, decode_traces
from otel_eval.signals import LogRecord, Span

SUFFIXES = (".pb", ".json", ".jsonl")
"""What is read in a folder."""


class UnreadableRecording(ValueError):
    """A file that cannot be read as OTLP; the message names the file, and the line where it has lines."""


@dataclass(frozen=True, slots=True)
class Recording:
    """All spans and log records of one path, in the order in which they were recorded.

    ``warnings`` say what of it could not be read, each with the file's name.
    """

    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_path(path: Path) -> Recording:
    """Everything that the file holds, or all files of the folder and its subfolders. Raises UnreadableRecording."""
    recording = Recording()
    for file in recorded_files(path):
        try:
            _read_file(file, recording)
        except OSError as error:
            raise UnreadableRecording(f"{file}: {error.strerror or error}") from error
        except MalformedRequest as error:
            raise UnreadableRecording(f"{file}: {error}") from error
    return recording


def recorded_files(path: Path) -> Iterator[Path]:
    """The path itself, or a folder's ``.pb``, ``.json`` and ``.jsonl`` files in name order. Raises UnreadableRecording."""
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    elif not path.exists():
        raise UnreadableRecording(f"{path}: no such file or folder")
    elif path.suffix not in SUFFIXES and not _begins_as_json(path):
        raise UnreadableRecording(f"{path}: {' , '.join(SUFFIXES)} can be read, {path.suffix or 'this'} cannot")
    else:
        yield path


def _begins_as_json(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(64).lstrip().startswith(b"{")
    except OSError as error:
        raise UnreadableRecording(f"{path}: {error.strerror or error}") from error


def _read_file(file: Path, recording: Recording) -> None:
    if file.suffix == ".pb":
        _read_protobuf(file, recording)
        return
    begun = False
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                _read_json(line, recording)
            except _NotJson as error:
                if not begun and _read_whole(file, recording):
                    return
                if begun and not line.endswith(b"\n"):  # the exporter is at it, or was stopped
                    recording.warnings.append(f"{file}: line {number}, the last one, is cut and left out")
                    return
                raise MalformedRequest(f"line {number}: {error}") from error
            except MalformedRequest as error:
                raise MalformedRequest(f"line {number}: {error}") from error
            begun = True


def _read_whole(file: Path, recording: Recording) -> bool:
    """One request over several lines; False where it is no JSON either."""
    try:
        _read_json(file.read_bytes(), recording)
    except _NotJson:
        return False
    return True


class _NotJson(MalformedRequest):
    """Not even JSON."""


def _read_protobuf(file: Path, recording: Recording) -> None:
    body = file.read_bytes()
    match _signal_of_name(file.stem) or _signal_of_protobuf(body):
        case "traces":
            recording.spans.extend(decode_traces(body))
        case "logs":
            recording.logs.extend(decode_logs(body))
        case "metrics":
            pass
        case _:
            raise MalformedRequest("no OTLP request of traces, logs or metrics")


def _read_json(body: bytes, recording: Recording) -> None:
    match _signal_of_json(body):
        case "traces":
            recording.spans.extend(decode_traces(body, "json"))
        case "logs":
            recording.logs.extend(decode_logs(body, "json"))


def _signal_of_name(stem: str) -> str | None:
    return next((signal for signal in ("traces", "logs", "metrics") if stem.endswith(signal)), None)


def _signal_of_protobuf(body: bytes) -> str | None:
    """By content: the three requests have the same outer fields, so what tells is whether the ids make sense."""
    if not body:
        return "traces"
    try:
        if decode_traces(body):
            return "traces"
    except MalformedRequest:
        pass
    try:
        records = decode_logs(body)
    except MalformedRequest:
        return None
    if any(record.trace_id or record.event_name or record.body is not None for record in records):
        return "logs"
    return "metrics"


def _signal_of_json(body: bytes) -> str | None:
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _NotJson(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        return None
    if "resourceSpans" in value or "resource_spans" in value:
        return "traces"
    if "resourceLogs" in value or "resource_logs" in value:
        return "logs"
    return None
