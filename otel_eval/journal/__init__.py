"""Durable intake: what was acknowledged is here until it is put together, also after a kill -9."""

from otel_eval.journal.consumer import Consumer
from otel_eval.journal.entry import ClosedTrace, Encoding, Entry, Request, Signal
from otel_eval.journal.errors import (
    JournalClosed,
    JournalCorrupt,
    JournalError,
    JournalFull,
    JournalLocked,
    JournalTooNew,
    JournalUnusable,
    JournalUnwritable,
)
from otel_eval.journal.journal import DEFAULT_MAX_BYTES, Journal

__all__ = [
    "DEFAULT_MAX_BYTES",
    "ClosedTrace",
    "Consumer",
    "Encoding",
    "Entry",
    "Journal",
    "JournalClosed",
    "JournalCorrupt",
    "JournalError",
    "JournalFull",
    "JournalLocked",
    "JournalTooNew",
    "JournalUnusable",
    "JournalUnwritable",
    "Request",
    "Signal",
]
