"""Decompression that stops at a limit: a body is refused before it is expanded past it, not after."""

from __future__ import annotations

import zlib
from typing import Protocol

from otel_eval.receive.refusal import Code, Refused

_WINDOW = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class Body(Protocol):
    """Collects a body as it arrives. Both methods raise :class:`Refused`."""

    def feed(self, chunk: bytes) -> int:
        """How many bytes the body has grown by."""
        ...

    def finish(self) -> bytes:
        """The whole body."""
        ...


def body_of(content_encoding: str, limit: int) -> Body:
    """What reads bodies of that ``Content-Encoding``. Raises :class:`Refused` for one that is not taken."""
    name = content_encoding.strip().lower()
    if name in ("", "identity"):
        return PlainBody(limit)
    if name in _WINDOW:
        return InflatedBody(_WINDOW[name], limit)
    raise Refused(Code.UNSUPPORTED, f"content encoding {name!r} is not taken: gzip, deflate or none")


class PlainBody:
    """A body as it is."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> int:
        self._size += len(chunk)
        if self._size > self._limit:
            raise too_large(self._limit)
        self._parts.append(chunk)
        return len(chunk)

    def finish(self) -> bytes:
        return b"".join(self._parts)


class InflatedBody:
    """A gzip (of one or more members) or zlib body. At most ``limit`` + 1 bytes are ever expanded."""

    def __init__(self, window: int, limit: int) -> None:
        self._window = window
        self._plain = PlainBody(limit)
        self._room = limit + 1
        self._stream = zlib.decompressobj(window)
        self._begun = False

    def feed(self, chunk: bytes) -> int:
        grown = 0
        while chunk:
            if self._stream.eof:  # a further gzip member
                self._stream = zlib.decompressobj(self._window)
            self._begun = True
            try:
                piece = self._stream.decompress(chunk, self._room)
            except zlib.error as error:
                raise Refused(Code.MALFORMED, "the body does not decompress") from error
            self._room -= len(piece)
            grown += self._plain.feed(piece)
            chunk = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
        return grown

    def finish(self) -> bytes:
        if self._begun and not self._stream.eof:
            raise Refused(Code.MALFORMED, "the compressed body ends too early")
        return self._plain.finish()


def too_large(limit: int) -> Refused:
    """A body past the limit, whether it arrived so or expands to it."""
    return Refused(Code.TOO_LARGE, f"the request is larger than {limit} bytes, the limit of this listener")
