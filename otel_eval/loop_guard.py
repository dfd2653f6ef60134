"""The judge's own model calls are telemetry too, and are never judged.

Marks, each enough alone, keyed so that every replica that shares the key knows them and nobody else can make them (or
dodge judgement by quoting them):

* the ids of the traces that we start and of the spans that we emit end in a keyed digest of how they begin, so they are
  known without their roots, and with every attribute stripped;
* the spans we emit have the scope ``otel_eval``, and whatever descends from a span of ours is ours;
* the reply format at the end of every judge's *system* message carries a fingerprint, so that an Interaction made of a
  judge call through somebody's instrumented gateway is recognised in a foreign trace without any marker of ours. We export
  it nowhere: only whoever sees what the provider is sent could quote it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from pathlib import Path

from otel_eval.identity import digest

SCOPE_NAME = "otel_eval"
"""The instrumentation scope of everything that otel-eval emits."""

BAGGAGE_KEY = "otel_eval.evaluation"
"""Baggage on judge calls: the evaluation id. Instrumentations that copy baggage to attributes mark their spans with it."""

_FINGERPRINT = re.compile(r"oe-([0-9a-f]{16})-([0-9a-f]{32})")
_MARK = re.compile(r"\n\n\(request oe-[0-9a-f]{16}-[0-9a-f]{32}\)")
_MARK_LENGTH = len(f"\n\n(request oe-{'0' * 16}-{'0' * 32})")


def marked(system: str, fingerprint: str) -> str:
    """A judge's system message with the mark of one evaluation at its end."""
    return f"{system}\n\n(request {fingerprint})"


def unmarked(system: str) -> str:
    """A judge's system message without the mark at its end: what all calls of the judge share."""
    return system[:-_MARK_LENGTH] if _MARK.fullmatch(system, max(0, len(system) - _MARK_LENGTH)) else system


class LoopGuard:
    """Makes and recognises the marks. ``key`` is a secret shared by the replicas of one deployment."""

    def __init__(self, key: bytes) -> None:
        if len(key) < 16:
            raise ValueError("a loop guard key has at least 16 bytes")
        self._keyed = hmac.new(key, digestmod="sha256")

    @classmethod
    def from_file(cls, path: Path) -> LoopGuard:
        """The key kept in that file; made (mode 0600) where there is none."""
        try:
            return cls(bytes.fromhex(path.read_text().strip()))
        except FileNotFoundError:
            key = secrets.token_bytes(32)
            path.touch(mode=0o600)
            path.write_text(key.hex() + "\n")
            return cls(key)

    @classmethod
    def from_text(cls, text: str) -> LoopGuard:
        """The key in a configuration: hex, as the file has it, else any text of 16 characters or more. Raises ValueError."""
        text = text.strip()
        if re.fullmatch(r"(?:[0-9a-fA-F]{2}){16,}", text):
            return cls(bytes.fromhex(text))
        if len(text) < 16:
            raise ValueError("a loop guard key has at least 16 characters")
        return cls(hashlib.sha256(text.encode()).digest())

    def trace_id(self, seed: str) -> str:
        """A trace id of ours, 32 hex digits, the same for the same seed."""
        head = hashlib.sha256(seed.encode()).digest()[:8]
        return head.hex() + self._mac(b"trace" + head)[:16]

    def owns_trace(self, trace_id: str) -> bool:
        """Whether we started that trace."""
        try:
            head = bytes.fromhex(trace_id[:16])
        except ValueError:
            return False
        return len(trace_id) == 32 and hmac.compare_digest(trace_id[16:], self._mac(b"trace" + head)[:16])

    def span_id(self, evaluation_id: str, part: str = "span") -> str:
        """The id, 16 hex digits, of an evaluation's span, or of a span below it named by ``part``; never all zero."""
        head = digest("span-id", evaluation_id, part)[:8]
        return head + self._mac(b"span" + bytes.fromhex(head))[:8]

    def owns_span(self, span_id: str) -> bool:
        """Whether the span is ours. Somebody else's passes for ours once in 2^32."""
        try:
            head = bytes.fromhex(span_id[:8])
        except ValueError:
            return False
        return len(span_id) == 16 and hmac.compare_digest(span_id[8:], self._mac(b"span" + head)[:8])

    def fingerprint(self, evaluation_id: str) -> str:
        """The mark in the reply format of that evaluation's judge calls: ``oe-<16 hex>-<32 hex>``."""
        head = hashlib.sha256(b"fingerprint" + evaluation_id.encode()).hexdigest()[:16]
        return f"oe-{head}-{self._mac(b'fingerprint' + head.encode())[:32]}"

    def owns_text(self, system_text: str) -> bool:
        """Whether a system message ends a judge's call of ours: ask it of system messages only, never of what a user
        wrote."""
        return any(
            hmac.compare_digest(mac, self._mac(b"fingerprint" + head.encode())[:32])
            for head, mac in _FINGERPRINT.findall(system_text)
        )

    def owns(self, trace_id: str, system_text: str | None) -> bool:
        """Whether an Interaction is a call of a judge of ours, by its trace or by its instructions."""
        return self.owns_trace(trace_id) or self.owns_text(system_text or "")

    def _mac(self, message: bytes) -> str:
        # A copy of what holds the key: hmac.digest takes twice as long, and lets go of the interpreter's lock in between.
        mac = self._keyed.copy()
        mac.update(message)
        return mac.hexdigest()
