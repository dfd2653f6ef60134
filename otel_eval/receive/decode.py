"""OTLP requests, protobuf and JSON, into :mod:`otel_eval.signals`.

One odd span does not poison its batch: what cannot be placed is left out and counted by reason in ``odd``, the rest is
taken. Most spans are no agent's: a :class:`~otel_eval.receive.sieve.Sieve` lets them pass undecoded. Resources and scopes
are shared by all spans of one origin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeAlias

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from otel_eval.receive import decode_json, decode_protobuf
from otel_eval.receive.decode_common import MalformedRequest, in_order
from otel_eval.receive.sieve import Sieve
from otel_eval.signals import LogRecord, OrdinarySpan, Span

__all__ = ["Encoding", "MalformedRequest", "decode_logs", "decode_traces", "sift_traces"]

Encoding: TypeAlias = Literal["protobuf", "json"]


def decode_traces(body: bytes, encoding: Encoding = "protobuf", odd: Counter[str] | None = None) -> list[Span]:
    """The spans of an ``ExportTraceServiceRequest``, in its order.

    ``odd`` counts by reason what was left out (``trace_id``, ``span_id``: of a wrong length or all zero) and what was
    taken as a root although its parent id was unusable (``parent_id``). Raises MalformedRequest.
    """
    odd = Counter() if odd is None else odd
    if encoding == "json":
        return list(decode_json.spans_of(decode_json.load(body), odd))
    try:
        return list(decode_protobuf.spans_of(body, odd))
    except DecodeError as error:
        raise MalformedRequest(f"not an OTLP trace request: {error}") from error


def sift_traces(body: bytes, encoding: Encoding, sieve: Sieve) -> Sequence[Span | OrdinarySpan]:
    """As :func:`decode_traces`, with only ids and times read of the spans that the sieve does not keep (in JSON, of none)."""
    if encoding == "json":
        return decode_traces(body, encoding)
    try:
        return list(decode_protobuf.sifted(body, Counter(), sieve))
    except DecodeError as error:
        raise MalformedRequest(f"not an OTLP trace request: {error}") from error


def decode_logs(body: bytes, encoding: Encoding = "protobuf", odd: Counter[str] | None = None) -> list[LogRecord]:
    """The log records of an ``ExportLogsServiceRequest``, in its order. A record without ids is taken. Raises
    MalformedRequest."""
    odd = Counter() if odd is None else odd
    if encoding == "json":
        return list(in_order(decode_json.logs_of(decode_json.load(body), odd)))
    try:
        request = ExportLogsServiceRequest.FromString(body)
    except DecodeError as error:
        raise MalformedRequest(f"not an OTLP log request: {error}") from error
    return list(in_order(decode_protobuf.logs_of(request, odd)))
