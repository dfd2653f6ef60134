"""Under which names instrumentations write the conversation and the user, most specific first.

Not among them: ``langsmith.trace.session_id`` (a project), ``mcp.session.id`` (a transport), run and call ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from otel_eval.conventions.reading.placeholders import NOTHING
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text

_KEYS = (
    "session_id",
    "sessionId",
    "thread_id",
    "threadId",
    "conversation_id",
    "conversationId",
    "chat_id",
    "chatId",
    "session.id",
)
_USER_KEYS = ("user_id", "userId", "user.id", "customer_id", "customerId")
_PREFIXES = (
    "traceloop.association.properties.",
    "gen_ai.association.properties.",  # Splunk
    "lmnr.association.properties.",  # Laminar
    "ai.telemetry.metadata.",  # Vercel AI SDK 3.3 to 6
    "ai.settings.context.",  # Vercel AI SDK 7
    "langsmith.metadata.",
    "mastra.metadata.",
    "langfuse.trace.metadata.",
    "metadata.",
)


def _names(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(prefix + key for prefix in _PREFIXES for key in keys)


SESSION_NAMES = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "gcp.vertex.agent.session_id",
    "spring.ai.chat.client.conversation.id",
    "gen_ai.session.id",  # Alibaba, Tencent, Dify
    "microsoft.session.id",
    "genkit:sessionId",
    "mirascope.ops.session.id",
    "confident.trace.thread_id",
    "group_id",
    *_names(_KEYS),
)
USER_NAMES = (
    "user.id",
    "enduser.id",
    "langfuse.user.id",
    "gen_ai.user.id",
    "confident.trace.user_id",
    *_names(_USER_KEYS),
)
_SESSION_RANK = {name: rank for rank, name in enumerate(SESSION_NAMES)}
_USER_RANK = {name: rank for rank, name in enumerate(USER_NAMES)}
_METADATA = ("metadata", "langfuse.trace.metadata", "traceloop.association.properties")


_SOME = re.compile(r'Some\("(.+)"\)', re.S)


def real_id(id_: str | None) -> str | None:
    """The id; None for what languages write where there is none, which would make one conversation of all those.

    Rust's ``{:?}`` of an id that there is, ``Some("x")``, is the id.
    """
    if not id_ or id_ in NOTHING:
        return None
    some = _SOME.fullmatch(id_) if id_[:5] == "Some(" else None
    return id_ if some is None else some[1]


def session_of(attributes: Mapping[str, Any]) -> str | None:
    """The conversation that the span belongs to; an empty id is none (pydantic-ai writes ``""``)."""
    return _first(attributes, _SESSION_RANK) or _in_metadata(attributes, _KEYS)


def session_ids(attributes: Mapping[str, Any]) -> set[str]:
    """Every id of a conversation that the span bears, under whichever of the names."""
    texts = (text(attributes[name]) for name in _SESSION_RANK.keys() & attributes.keys())
    return {id_ for each in (*texts, _in_metadata(attributes, _KEYS)) if (id_ := real_id(each)) is not None}


def user_of(attributes: Mapping[str, Any]) -> str | None:
    """The end user's id."""
    return _first(attributes, _USER_RANK) or _in_metadata(attributes, _USER_KEYS)


def _first(attributes: Mapping[str, Any], rank: Mapping[str, int]) -> str | None:
    """The most specific of the names that is there; walks the span's keys, which are fewer than the names."""
    there = rank.keys() & attributes.keys()
    if not there:
        return None
    texts = (text(attributes[name]) for name in sorted(there, key=rank.__getitem__))
    found = next((id_ for each in texts if (id_ := real_id(each)) is not None), None)
    if found is not None and found[:1] == '"':  # as JSON: Langfuse's metadata of callbacks
        decoded = decode_leniently(found)
        return text(decoded) if isinstance(decoded, str) else found
    return found


def _in_metadata(attributes: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    for name in _METADATA:
        raw = attributes.get(name)
        metadata = decode_leniently(raw) if raw is not None else None
        if is_object(metadata) and (found := first_text(metadata, keys)) is not None:
            return found
    return None
