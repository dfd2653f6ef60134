"""GitHub Copilot (its CLI, and its SDK, which runs it): the semantic conventions, with tools' names hashed while
content is off.

Source: @github/copilot 1.0.102, with ``COPILOT_OTEL_ENABLED`` or an OTLP endpoint.
"""

from __future__ import annotations

import re

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.signals import Span

SCOPE = "github.copilot"
NAME = "copilot"
SETTING = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"

_HASHED = re.compile(r"[0-9a-f]{64}(/[0-9a-f]{64})?")
"""A tool of an MCP server, as SHA-256 of both names."""


def read(span: Span) -> Facts | None:
    """What the standard's attributes do not tell; None for the rest, and for other programs' spans."""
    if not span.scope.name.startswith(SCOPE):
        return None
    attributes = span.attributes
    if attributes.get("gen_ai.operation.name") == "invoke_agent":
        return Facts(kind=Kind.AGENT, weak_agent=NAME, setting=SETTING)
    if _HASHED.fullmatch(str(attributes.get("gen_ai.tool.name"))) is not None:
        return Facts(kind=Kind.STEP, setting=SETTING)  # which tool was called is not captured
    return None


CONVENTION = Convention(name="copilot", read=read, scopes=(SCOPE,))
