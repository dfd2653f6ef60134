"""Why a model stopped, in the words of many SDKs.

``tool_calls`` and ``function_call`` of OpenAI's API, ``tool_call`` of the semantic conventions and Cohere, ``tool_use`` of
Anthropic and Bedrock, ``tool-calls`` of the Vercel AI SDK, ``toolUse`` of Strands for TypeScript, ``TOOL_EXECUTION`` of
LangChain4j; an enumeration's member where Python wrote it as a text, ``FinishReason.TOOL_CALLS`` (Semantic Kernel).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from otel_eval.conventions.reading.values import decode_leniently, is_object, text

_ASKING = frozenset({"toolcall", "toolcalls", "tooluse", "toolexecution", "functioncall"})
_ENDING = frozenset({"stop", "endturn", "stopsequence", "length", "maxtokens", "contentfilter", "safety", "refusal"})


@lru_cache(maxsize=512)
def asks_for_tools(reason: str) -> bool:
    """Whether the model stopped to have tools called."""
    return _word(reason) in _ASKING


def all_ask_for_tools(reasons: Sequence[str]) -> bool:
    """Whether there are reasons, and each is that tools are to be called."""
    return bool(reasons) and all(map(asks_for_tools, reasons))


@lru_cache(maxsize=512)
def ends_the_turn(reason: str) -> bool:
    """Whether the model stopped with its answer, whole or not. ``completed`` of OpenAI's responses says nothing of it."""
    return _word(reason) in _ENDING


def reasons_in(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """The ``finish_reason`` of each message that came out and has one, of ``gen_ai.output.messages`` or numbered.

    Semantic conventions 1.37 to 1.41 require it there and recommend ``gen_ai.response.finish_reasons`` beside it; the
    numbered messages of OpenLLMetry have it alone (``gen_ai.completion.0.finish_reason``).
    """
    raw = attributes.get("gen_ai.output.messages")
    found: list[Any] = []
    if raw is None:
        while (reason := attributes.get(f"gen_ai.completion.{len(found)}.finish_reason")) is not None:
            found.append(reason)
    elif not isinstance(raw, str) or '"finish_reason"' in raw:  # saves reading it again
        output = decode_leniently(raw)
        messages = output if isinstance(output, list) else [output]
        found = [said.get("finish_reason") for said in messages if is_object(said)]
    return tuple(reason for reason in map(text, found) if reason is not None)


def _word(reason: str) -> str:
    return "".join(filter(str.isalnum, reason.rpartition(".")[2])).lower()
