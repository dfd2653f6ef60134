"""Decompression with a limit."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest

from otel_eval.receive.inflate import body_of
from otel_eval.receive.refusal import Code, Refused

TEXT = b"telemetry " * 1000
GZIPPED = gzip.compress(TEXT, mtime=0)
"""The same bytes in every process: they are in the tests' names."""


def read(encoding: str, raw: bytes, *, limit: int = 1 << 20, chunk: int = 100) -> bytes:
    body = body_of(encoding, limit)
    grown = sum(body.feed(raw[start : start + chunk]) for start in range(0, len(raw), chunk))
    whole = body.finish()
    assert grown == len(whole)
    return whole


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
@pytest.mark.parametrize(
    ("encoding", "raw"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", GZIPPED),
        (" GZIP ", GZIPPED),
        ("gzip", gzip.compress(TEXT[:500], mtime=0) + gzip.compress(TEXT[500:], mtime=0)),
        ("deflate", zlib.compress(TEXT)),
    ],
)
def test_a_body_is_read_in_any_chunks(encoding: str, raw: bytes, chunk: int) -> None:
    """Plain, gzip of one or more members, zlib."""
    assert read(encoding, raw, chunk=chunk) == TEXT


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
def test_an_empty_body_is_empty(encoding: str) -> None:
    """Some senders name an encoding although there is nothing to encode."""
    assert read(encoding, b"") == b""


@pytest.mark.parametrize(
    ("encoding", "raw"),
    [("gzip", TEXT), ("deflate", TEXT), ("gzip", GZIPPED[:-9]), ("gzip", GZIPPED + b"tail")],
)
def test_what_does_not_decompress_is_malformed(encoding: str, raw: bytes) -> None:
    """Noise, a stream that was cut off, and noise behind its end."""
    with pytest.raises(Refused) as refused:
        read(encoding, raw)
    assert refused.value.code is Code.MALFORMED


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("", bytes)])
def test_the_limit_is_exact(encoding: str, pack: object) -> None:
    """As many bytes as the limit are taken, one more is too large, whether packed or not."""
    assert callable(pack)
    assert read(encoding, pack(TEXT), limit=len(TEXT)) == TEXT
    with pytest.raises(Refused) as refused:
        read(encoding, pack(TEXT), limit=len(TEXT) - 1)
    assert refused.value.code is Code.TOO_LARGE


def test_a_bomb_is_refused_before_it_is_expanded() -> None:
    """A megabyte that would expand to a gigabyte takes no more memory than the limit allows."""
    bomb = gzip.compress(bytes(256 << 20), compresslevel=9)
    tracemalloc.start()
    try:
        with pytest.raises(Refused) as refused:
            read("gzip", bomb, limit=1 << 20, chunk=1 << 16)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refused.value.code is Code.TOO_LARGE
    assert peak < 8 << 20


def test_other_encodings_are_not_taken() -> None:
    """The sender reads which are."""
    with pytest.raises(Refused, match="gzip, deflate") as refused:
        body_of("br", 1)
    assert refused.value.code is Code.UNSUPPORTED
