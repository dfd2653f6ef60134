"""In which language a program is written: some frameworks have their switches, or their shapes, by language."""

from __future__ import annotations

from otel_eval.conventions.reading.values import first_text
from otel_eval.signals import LogRecord, Span

LANGUAGE = "telemetry.sdk.language"


def is_go(signal: Span | LogRecord) -> bool:
    """Whether OpenTelemetry's SDK for Go wrote it; False where the resource does not tell."""
    return signal.resource.attributes.get(LANGUAGE) == "go"


def is_erlang(signal: Span | LogRecord) -> bool:
    """Whether OpenTelemetry's SDK for Erlang and Elixir wrote it; False where the resource does not tell."""
    return signal.resource.attributes.get(LANGUAGE) == "erlang"


def is_javascript(span: Span) -> bool:
    """Whether OpenTelemetry's SDK for JavaScript wrote it, by the resource or a scope that is named like npm's packages."""
    return span.resource.attributes.get(LANGUAGE) in ("nodejs", "webjs") or span.scope.name.startswith("@")


def lost_its_end(span: Span) -> bool:
    """Whether what was set last is missing: past its limit JavaScript's SDK drops that, where Python's drops the first.

    Of messages that are numbered over many attributes, the newest may be gone.
    """
    return span.dropped_attributes > 0 and is_javascript(span)


RUST_KEYS = ("target", "code.module.name", "code.namespace")
"""One of these is on every span of :func:`rust_module`'s."""


def rust_module(span: Span) -> str:
    """The target of a span that Rust's ``tracing`` crate opened: its module, unless the program names another; else empty.

    tracing-opentelemetry writes both, the module as ``code.namespace`` until 0.31, and all else that is its own:
    ``busy_ns``, ``idle_ns``, ``thread.id``, events named by their message. Numbers without a sign are written as texts,
    and of a field that was recorded again every value, of which the last counts.
    Source: tracing-opentelemetry 0.27 to 0.34 (``layer.rs``).
    """
    return first_text(span.attributes, RUST_KEYS) or ""
