"""All text of a capture: what stands nowhere in it cannot be known by any reader.

Read apart from otel-eval's own decoding, so that what otel-eval fails to read is a fault and not a hole in the capture.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_DEFINITIONS = re.compile(
    r"tool\.definitions$|^llm\.tools\.|^llm\.invocation_parameters$|prompt\.tools$|^llm\.request\.functions"
    r"|crewai\.(crew\.(agents|tasks)|agent\.tools|task\.tools)$"
)
"""Attributes that say which tools there are, not which were called."""

_LAYERS = 3
"""How often JSON stands in JSON."""
_ESCAPES = (('\\"', '"'), ("\\t", "\t"), ("\\r", "\r"), ("\\n", "\n"), ("\\'", "'"), ("\\\\", "\\"))
_PAIR = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)


class CaptureText:
    """The text of one capture, with the escapes of nested encodings undone."""

    def __init__(self, capture: Path) -> None:
        every: list[str] = []
        calls: list[str] = []
        for request in _requests(capture):
            every += _strings(request)
            calls += _strings(request, definitions=False)
        self.all = _unescaped("\n".join(every))
        self.letters = letters(self.all)
        self.calls = "\n".join(calls)
        """Without the definitions of tools."""

    def holds(self, value: Any) -> bool:
        """Whether every text and number of the value stands somewhere, however encoded."""
        return all(letters(leaf) in self.letters for leaf in _leaves(value))

    def names(self, word: str) -> bool:
        """Whether it stands there as a word of its own (``s_d`` is not in ``input_tokens_details``)."""
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.all) is not None


def letters(text: str) -> str:
    """Letters and digits alone: what an encoding leaves untouched."""
    return "".join(filter(str.isalnum, text))


def is_empty(capture: Path) -> bool:
    """Whether the program exported nothing."""
    return not any(capture.glob("*-traces.*")) and not any(capture.glob("*-logs.*"))


def _requests(capture: Path) -> Iterator[Message]:
    for path in sorted(capture.iterdir()):
        if path.suffix not in (".pb", ".json") or path.name == "expected.json" or "metrics" in path.name:
            continue
        kind = ExportLogsServiceRequest if "logs" in path.name else ExportTraceServiceRequest
        body = path.read_bytes()
        if path.suffix == ".json":
            yield json_format.Parse(body, kind(), ignore_unknown_fields=True)
        else:
            yield kind.FromString(body)


def _strings(message: Message, *, definitions: bool = True) -> Iterator[str]:
    """Every string in the message, and the text of every number."""
    if not definitions and message.DESCRIPTOR.name == "KeyValue" and _DEFINITIONS.search(message.key):  # type: ignore[attr-defined]
        return
    for field, value in message.ListFields():
        for item in value if field.is_repeated else (value,):
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                yield from _strings(item, definitions=definitions)
            elif isinstance(item, str):
                yield item
            elif isinstance(item, int | float) and not isinstance(item, bool):
                yield repr(item)


def _unescaped(text: str) -> str:
    layers = [text]
    for _ in range(_LAYERS):
        for escaped, plain in _ESCAPES:
            text = text.replace(escaped, plain)
        layers.append(text)
    return "\n".join([*layers, *(_unicode_escapes(layer) for layer in layers)])


def _unicode_escapes(text: str) -> str:
    quoted = text.replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    try:
        return str(json.loads(f'"{quoted}"'))
    except ValueError:
        text = _PAIR.sub(lambda m: chr(0x10000 + ((int(m[1], 16) - 0xD800) << 10) + int(m[2], 16) - 0xDC00), text)
        return re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)


def _leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item)]
    return [] if value is None or isinstance(value, bool) else [str(value)]
