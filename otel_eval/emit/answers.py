"""What an OTLP endpoint's answer means: whether a request was taken, can be tried again, or never will be.

Source: OTLP 1.9, "OTLP/gRPC Response" and "OTLP/HTTP Response"; where we wait although the specification calls a code final
(credentials, HTTP 500), it is because the ledger keeps what is sent and an operator can mend it. gRPC has one code for an
overload, which passes, and for a message above the server's limit (4 MiB unless it is set), which it never takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

import grpc


class Answer(StrEnum):
    """What became of an export, and therefore what to do next."""

    TAKEN = "taken"
    UNAVAILABLE = "unavailable"
    """Down, overloaded, or it does not know us (credentials): wait, then the same again."""
    REFUSED = "refused"
    """It will not take this content, ever: the specification forbids sending it again."""
    UNKNOWN_SIGNAL = "unknown_signal"
    """There is no such service or path: a backend that takes traces only, or a wrong endpoint."""


@dataclass(frozen=True, slots=True)
class Exported:
    """How an export went. ``rejected`` items of a TAKEN one were thrown away by the endpoint, by its own word."""

    answer: Answer
    message: str = ""
    rejected: int = 0


_GRPC_ANSWERS = {
    grpc.StatusCode.UNIMPLEMENTED: Answer.UNKNOWN_SIGNAL,
    grpc.StatusCode.INVALID_ARGUMENT: Answer.REFUSED,
    grpc.StatusCode.FAILED_PRECONDITION: Answer.REFUSED,
    grpc.StatusCode.NOT_FOUND: Answer.REFUSED,
    grpc.StatusCode.ALREADY_EXISTS: Answer.REFUSED,
}
_HTTP_ANSWERS = {
    400: Answer.REFUSED,
    413: Answer.REFUSED,
    415: Answer.REFUSED,
    422: Answer.REFUSED,
    404: Answer.UNKNOWN_SIGNAL,
    405: Answer.UNKNOWN_SIGNAL,
    501: Answer.UNKNOWN_SIGNAL,
}


# Source: the words of gRPC's own libraries: C and Go, Java and .NET, Rust.
_ABOVE_LIMIT = re.compile(r"larger than max|exceeds (?:the )?max|length too large", re.IGNORECASE)


def answer_of_grpc(code: grpc.StatusCode, details: str | None = None) -> Answer:
    """What a failed call means."""
    if code in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.OUT_OF_RANGE) and _ABOVE_LIMIT.search(
        details or ""
    ):
        return Answer.REFUSED
    return _GRPC_ANSWERS.get(code, Answer.UNAVAILABLE)


def answer_of_http(status: int) -> Answer:
    """What a response means. A redirect is no success: the exporters do not follow it, and nobody took the request."""
    return Answer.TAKEN if 200 <= status < 300 else _HTTP_ANSWERS.get(status, Answer.UNAVAILABLE)
