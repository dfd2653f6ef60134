"""LiteLLM's callbacks (``otel``, ``arize_phoenix``, ``langfuse_otel``, …): others' vocabularies, with switches of its own.

With ``LITELLM_OTEL_V2`` nothing is captured unless the standard's variable says so, and each span has a
``litellm.call_type``; the callbacks before it capture all unless ``turn_off_message_logging`` is set.
Source: litellm 1.60.0, 1.81.16 and 1.110.2.
"""

from __future__ import annotations

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.genai import SETTING, kind_of
from otel_eval.conventions.values import text
from otel_eval.signals import Span

FIRST_SETTING = "litellm.turn_off_message_logging = False"


def read(span: Span) -> Facts | None:
    """What kind of span it is, whose call, and how to have its content; the rest is as the other vendor writes it."""
    attributes = span.attributes
    kind = kind_of(span)
    if kind is None and (
        attributes.get("openinference.span.kind") == "LLM"
        or attributes.get("langfuse.observation.type") == "generation"
    ):
        kind = Kind.MODEL
    if kind is None:
        return None
    return Facts(
        kind=kind,
        response_id=text(attributes.get("llm.response.id")),  # Arize's
        setting=SETTING if "litellm.call_type" in attributes else FIRST_SETTING,
    )


CONVENTION = Convention(name="litellm", read=read, scopes=("litellm",))
