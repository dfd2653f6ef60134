"""What stands where a value would: a mask, or what languages write where there is none."""

from __future__ import annotations

import re

from otel_eval.redaction.markers import is_bare

PLACEHOLDERS = frozenset(
    {
        "__REDACTED__",  # OpenInference
        "[REDACTED]",  # Strands and many proxies
        "<REDACTED>",  # Claude Code
        "<redacted>",
        "<elided>",  # Google ADK logs
        "redacted-by-litellm",
        "HIDDEN:non-empty",  # Koog
        "Function called with tools",  # OpenLIT until 1.33, whatever was answered to a request with tools
    }
)
"""Texts that stand where content was."""

_SCRUBBED = re.compile(
    r"(?:\[|<|\*+|__) ?(?:redacted|hidden|masked|elided|omitted|suppressed)(?:\]|>| ?\*+|__)",
    re.I,
)
"""What programs give to an instrumentation that takes a masking function (Langfuse, LangSmith)."""


def is_placeholder(value: object) -> bool:
    """Whether the value only says that something was hidden."""
    if not isinstance(value, str) or len(value) > _LONGEST_PLACEHOLDER or value[:1] not in _PLACEHOLDER_START:
        return False
    stripped = value.strip()
    return stripped in PLACEHOLDERS or _SCRUBBED.fullmatch(stripped) is not None or is_bare(stripped)


_LONGEST_PLACEHOLDER = 200
"""With blanks around it. Saves a scan of every longer text."""
_PLACEHOLDER_START = "[<*_rRFH \t\r\n"
"""Saves a scan of nearly all others."""


_OBJECT = re.compile(r"\[object [A-Z]\w*\]")


def is_object_text(value: object) -> bool:
    """Whether it is what JavaScript makes of an object in place of a text: of its content nothing is left."""
    return isinstance(value, str) and value[:8] == "[object " and _OBJECT.fullmatch(value.strip()) is not None


NOTHING = frozenset({"null", "None", "undefined", "nil", "<unknown_tool_output>"})
"""What ``json.dumps(None)``, ``JSON.stringify(null)`` and ``str(None)`` make of a value that is not there, and what VeADK
writes of a tool that failed."""


def is_nothing(value: object) -> bool:
    """Whether it is what languages write where there is no value."""
    return isinstance(value, str) and len(value) < _LONGEST_NOTHING and value.strip() in NOTHING


def says_nothing(value: object) -> bool:
    """As :func:`is_nothing`, of what was asked or answered: an empty text in the quotes of JSON says nothing either."""
    return is_nothing(value) or (isinstance(value, str) and value[:1] == '"' and value.strip() == '""')


_LONGEST_NOTHING = 30
"""With blanks around it. Saves a copy of every longer text."""
