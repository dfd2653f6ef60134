"""Ids that anybody can compute again: at-least-once delivery becomes once, because everything stored is an upsert."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping


def interaction_id(trace_id: str, span_id: str) -> str:
    """``<trace id>-<span id>`` in lower-case hex."""
    return f"{trace_id}-{span_id}".lower()


def evaluation_id(
    *,
    interaction_id: str,
    evaluator: str,
    evaluator_version: str,
    revision: int = 1,
    attempt: int = 0,
    attributes: Mapping[str, str] | None = None,
) -> str:
    """32 hex digits, the same for the same inputs on every machine."""
    extra = [f"{key}={value}" for key, value in sorted((attributes or {}).items())]
    return digest("evaluation", interaction_id, evaluator, evaluator_version, str(revision), str(attempt), *extra)[:32]


def sampling_fraction(group: str, key: str) -> float:
    """A number in [0, 1) that is the same for the same pair on every replica: below the ratio means sampled in.

    Source: the first 8 bytes of SHA-256 of ``<group>\\0<key>``, as an unsigned big-endian fraction.
    """
    return int.from_bytes(hashlib.sha256(f"{group}\0{key}".encode()).digest()[:8], "big") / 2**64


def digest(*parts: str) -> str:
    """SHA-256 in hex over parts that cannot run into one another."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        sha.update(len(data).to_bytes(8, "big"))
        sha.update(data)
    return sha.hexdigest()
