"""The attributes of what we emit, from a record alone. Plain Python: no OpenTelemetry is needed to read or to test them.

Source: OpenTelemetry semantic conventions for GenAI, ``gen_ai.evaluation.result`` and ``gen_ai.*`` spans; what is ours is
named ``otel_eval.*`` and described in docs/telemetry.md.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from otel_eval.loop_guard import unmarked
from otel_eval.outcome import AttributeValue, Errored, Evaluation, Passed, describe
from otel_eval.record import EvaluationRecord, JudgeCall

Attributes: TypeAlias = dict[str, AttributeValue]
EVENT_NAME = "gen_ai.evaluation.result"

_ERROR_CLASS = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,80}(?=:|$)")
# litellm's provider prefixes where the conventions have another name for the provider.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What of the texts leaves: ``redact`` is applied to each, and without ``content`` none leaves at all."""

    redact: Callable[[str], str] = str
    content: bool = True

    def text(self, text: str | None) -> str | None:
        """The text as it may leave, or None."""
        return encodable(self.redact(text)) if self.content and text is not None else None

    def system(self, message: str | None) -> str | None:
        """A judge's system message: redacted once for all calls that share it, since it is long and comes with each.

        Without its mark: an agent whose instructions quote that would not be judged, and our spans are known without it.
        """
        return _redacted(self.redact, unmarked(message)) if message is not None and self.content else None


@functools.lru_cache(maxsize=64)
def _redacted(redact: Callable[[str], str], text: str) -> str:
    return encodable(redact(text))


def evaluation_attributes(record: EvaluationRecord, response_id: str | None, wording: Wording) -> Attributes:
    """What both the event and the evaluation span say, whom they are about included: many agents have the same name.

    A score only where there is one; a label only for a conclusive outcome (its own, else ``pass`` or ``fail``);
    ``error.type`` only where the evaluator broke; the explanation of one without a verdict is its reason in words, beside
    ``otel_eval.reason`` from a bounded set.
    """
    outcome = record.outcome
    attributes: dict[str, AttributeValue | None] = {
        "gen_ai.evaluation.name": record.evaluator,
        "gen_ai.response.id": response_id,
        "gen_ai.conversation.id": record.session,
        "gen_ai.agent.name": record.agent,
        "otel_eval.target.service": record.service,
        "otel_eval.target.environment": record.environment,
        "otel_eval.outcome": outcome.name,
        "otel_eval.evaluator.version": record.evaluator_version,
        "otel_eval.check": record.check,
        "otel_eval.threshold": record.threshold,
        "otel_eval.interaction.id": record.interaction_id,
        "otel_eval.revision": record.revision,
        "otel_eval.attempt": record.attempt,
        "otel_eval.origin": record.origin.value,
    }
    if isinstance(outcome, Evaluation):
        attributes["gen_ai.evaluation.score.value"] = outcome.score
        attributes["gen_ai.evaluation.score.label"] = _label(outcome)
        attributes["gen_ai.evaluation.explanation"] = wording.text(outcome.explanation)
    else:
        attributes["gen_ai.evaluation.explanation"] = wording.text(outcome.reason)
        attributes["otel_eval.reason"] = outcome.cause.value
        attributes["error.type"] = outcome.error_type if isinstance(outcome, Errored) else None
    return _given(attributes)


def span_attributes(record: EvaluationRecord, response_id: str | None, wording: Wording) -> Attributes:
    """The same, and on the span alone what the evaluator added (``otel_eval.attribute.*``)."""
    own: Attributes = {}
    if isinstance(record.outcome, Evaluation):
        own = _given(
            {
                f"otel_eval.attribute.{key}": wording.text(value) if isinstance(value, str) else value
                for key, value in record.outcome.attributes.items()
            }
        )
    return evaluation_attributes(record, response_id, wording) | own


def judge_attributes(call: JudgeCall, wording: Wording) -> Attributes:
    """One call of a judge's model as a GenAI client span describes it; the messages only with content."""
    provider, slash, _ = call.requested_model.partition("/")
    attributes: dict[str, AttributeValue | None] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider) if slash else None,
        "gen_ai.conversation.id": call.conversation_id,
        "gen_ai.request.model": call.requested_model,
        "gen_ai.response.model": call.answered_model,
        "gen_ai.response.id": call.response_id,
        "gen_ai.usage.input_tokens": call.input_tokens,
        "gen_ai.usage.output_tokens": call.output_tokens,
        "otel_eval.judge.cost_usd": call.cost_usd,
        "error.type": None if call.error is None else error_type(call.error),
        "gen_ai.system_instructions": _parts(wording.system(call.system_message)),
        "gen_ai.input.messages": _message("user", wording.text(call.user_message)),
        "gen_ai.output.messages": _message("assistant", wording.text(call.answer), finish_reason="stop"),
    }
    return _given(attributes)


def error_type(error: str) -> str:
    """The class that an error's text begins with (``RateLimitError: …``), else ``_OTHER``: few values, fit for a metric."""
    found = _ERROR_CLASS.match(error)
    return found.group() if found else "_OTHER"


def body(record: EvaluationRecord, wording: Wording) -> str:
    """The record on one line, as people read it in a log: ``FAIL tools: …``; without content only its beginning."""
    if not wording.content:
        return f"{record.outcome.word} {record.check}"
    return encodable(wording.redact(describe(record.check, record.outcome)))


def encodable(text: str) -> str:
    """The text as protobuf takes it: a lone surrogate, which a tool's JSON may hold, becomes ``?``."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _label(outcome: Evaluation) -> str:
    return outcome.label or ("pass" if isinstance(outcome, Passed) else "fail")


def _given(attributes: dict[str, AttributeValue | None]) -> Attributes:
    return {encodable(key): _value(value) for key, value in attributes.items() if value is not None}


def _value(value: AttributeValue) -> AttributeValue:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)  # OTLP has integers of 64 bits
    return value


def _parts(text: str | None) -> str | None:
    return None if text is None else json.dumps([{"type": "text", "content": text}])


def _message(role: str, text: str | None, **more: str) -> str | None:
    if text is None:
        return None
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}], **more}])
