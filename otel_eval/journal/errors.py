"""What can go wrong in the journal.

JournalError
├── JournalFull         the backlog is at its limit: the sender should come back
├── JournalUnwritable   the disk refused (full, read-only, I/O error): nothing was stored
├── JournalClosed       the journal is closed, or closing
└── JournalUnusable     it cannot be opened at all
    ├── JournalLocked   another process holds the directory
    ├── JournalTooNew   a newer otel-eval wrote it
    └── JournalCorrupt  the file is not a journal, or is damaged
"""

from __future__ import annotations


class JournalError(Exception):
    """The root of everything the journal raises."""


class JournalFull(JournalError):
    """The backlog has reached the journal's limit; entries have to be released first."""


class JournalUnwritable(JournalError):
    """The storage refused; the transaction was rolled back and nothing of it is kept."""


class JournalClosed(JournalError):
    """The journal takes nothing any more."""


class JournalUnusable(JournalError):
    """The journal cannot be opened; the message names the path and the way out."""


class JournalLocked(JournalUnusable):
    """Another process holds the directory. ``pid`` is that process, None where it cannot be told."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message)
        self.pid = pid


class JournalTooNew(JournalUnusable):
    """The file's format is newer than this program knows."""


class JournalCorrupt(JournalUnusable):
    """The file is damaged, or is no journal."""
