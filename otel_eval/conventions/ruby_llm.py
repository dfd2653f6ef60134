"""RubyLLM through thoughtbot's instrumentation: the semantic conventions, with tools' results cut to 500 letters.

With RubyLLM 1 a call of a model that asked for tools goes on
until the answer, so that each is below the one before and says the same as it, tokens and all: that is one call. Its switch
takes no other word than ``true``.
Source: opentelemetry-instrumentation-ruby_llm 0.1 to 0.7 and its main branch (``patches/chat.rb``, ``message_formatter.rb``).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind, Mark
from otel_eval.conventions.genai_operations import kind_of
from otel_eval.interaction import GapKind
from otel_eval.signals import Span

SCOPE = "OpenTelemetry::Instrumentation::RubyLLM"
SETTING = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"

_LIMITS = (500, 501)
"""The default, which was one more at first (``[0..500]``)."""


def read(span: Span) -> Facts | None:
    """The switch, and what is cut; None for other instrumentations' spans."""
    if span.scope.name != SCOPE:
        return None
    kind = kind_of(span)
    if kind is not Kind.TOOL:
        return None if kind in (None, Kind.OTHER) else Facts(kind=kind, setting=SETTING)
    result = span.attributes.get("gen_ai.tool.call.result")
    cut = isinstance(result, str) and len(result) in _LIMITS
    marks = (Mark(field="result", kind=GapKind.TRUNCATED),) if cut else ()
    return Facts(kind=kind, marks=marks, setting=SETTING)


CONVENTION = Convention(name="ruby-llm", read=read, scopes=(SCOPE,))
