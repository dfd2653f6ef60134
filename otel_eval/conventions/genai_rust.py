"""The crate ``genai`` for Rust, with its feature ``otel``: the semantic conventions; its switch takes other words than
Python's.

An evaluation is a span, ``gen_ai.evaluation.result``, that has no operation and says nothing of an agent.
Source: genai 0.7.2 (``src/otel``).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai_operations import kind_of
from otel_eval.conventions.reading.languages import RUST_KEYS, rust_module
from otel_eval.signals import Span

MODULE = "genai::otel"
SETTING = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"


def read(span: Span) -> Facts | None:
    """The switch; None for spans of other crates."""
    if not rust_module(span).startswith(MODULE):
        return None
    kind = kind_of(span)
    return None if kind in (None, Kind.OTHER) else Facts(kind=kind, setting=SETTING)


CONVENTION = Convention(name="genai-rust", read=read, prefixes=("gen_ai.",), needs=RUST_KEYS)
