"""LangChain for Elixir: the semantic conventions, but that a chain's span shows the first message of the conversation.

A chain keeps its conversation, and ``gen_ai.input.messages`` of each further run hold what the user said first. What was
asked now is the last user message of the run's first model call.
Source: langchain 0.9 of Hex (``lib/open_telemetry/attributes.ex``, ``span_handler.ex``).
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai_operations import kind_of
from otel_eval.conventions.reading.languages import is_erlang
from otel_eval.signals import Span

SCOPE = "langchain"
"""The application's name, by which Elixir names its tracers."""
SETTING = (
    "LangChain.OpenTelemetry.setup(capture_input_messages: true, capture_output_messages: true, "
    "capture_tool_arguments: true, capture_tool_results: true)"
)


def read(span: Span) -> Facts | None:
    """Without what a chain's span says was asked; None for other programs' spans."""
    if not is_erlang(span) or span.scope.name != SCOPE:
        return None
    kind = kind_of(span)
    if kind is None:
        return None
    return Facts(kind=kind, input=() if kind is Kind.AGENT else None, setting=SETTING)


CONVENTION = Convention(name="langchain-elixir", read=read, scopes=(SCOPE,))
