"""Why a model stopped, in the words of many SDKs.

``tool_calls`` and ``function_call`` of OpenAI's API, ``tool_call`` of the semantic conventions and Cohere, ``tool_use`` of
Anthropic and Bedrock, ``tool-calls`` of the Vercel AI SDK, ``toolUse`` of Strands for TypeScript, ``TOOL_EXECUTION`` of
LangChain4j; an enumeration's member where Python wrote it as a text, ``FinishReason.TOOL_CALLS`` (Semantic Kernel).
"""

from __future__ import annotations

from functools import lru_cache

_ASKING = frozenset({"toolcall", "toolcalls", "tooluse", "toolexecution", "functioncall"})


@lru_cache(maxsize=512)
def asks_for_tools(reason: str) -> bool:
    """Whether the model stopped to have tools called."""
    return "".join(filter(str.isalnum, reason.rpartition(".")[2])).lower() in _ASKING
