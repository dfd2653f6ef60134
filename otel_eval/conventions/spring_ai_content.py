"""What Spring AI's observation handlers write of prompts and completions: one text, each in quotes, nothing escaped.

==========================  ==============================================  ================================================
of                          the text                                        says
==========================  ==============================================  ================================================
a chat client's prompt      ``["system":"…", "user":"…"]``, any order       the last text of each role of what the caller gave
a chat client's completion  ``["…"]`` (since 1.1)                           the reply
a model's prompt            ``["…", "…"]``                                  all messages, without their roles
a model's completion        ``["…"]``, ``[]`` where it calls tools          the answers' texts
==========================  ==============================================  ================================================

Since a text may itself hold ``", "``, several cannot be told apart for certain: a completion is taken for one answer,
and of a model's prompt the last text, which is the question until tools have answered, is the shortest whose quotes
pair up, as JSON's do. Spring AI 2.0.1 under Spring Boot 4 logs a model's alone, whatever is set for the chat client:
what would log that is configured before there is a tracer.
Source: Spring AI 1.0.3 to 2.0.1, ``ObservabilityHelper`` and the ``*ContentObservationHandler`` that call it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from otel_eval.conventions.facts import Facts, Kind
from otel_eval.interaction import Message, TextPart
from otel_eval.signals import LogRecord

_NOTHING = Facts(kind=Kind.OTHER)
_ENTRY = re.compile(r'(?:^|, )"(system|user|assistant|tool)":"')
_BETWEEN = '", "'


def client_prompt(written: str | None) -> Facts:
    """What was asked of a chat client and its instructions; in another form all of it as a wrapping."""
    inner = _inside(written)
    if inner is None:
        return Facts(kind=Kind.OTHER, prompt=written)
    starts = list(_ENTRY.finditer(inner))
    ends = [found.start() for found in starts[1:]] + [len(inner)]
    if not starts or starts[0].start() > 0:
        return Facts(kind=Kind.OTHER, prompt=written if inner else None)
    texts = {found[1]: inner[found.end() : end - 1] for found, end in zip(starts, ends, strict=True)}
    return Facts(kind=Kind.OTHER, asked=texts.get("user") or None, system=texts.get("system") or None)


def client_completion(written: str | None) -> Facts:
    """What a chat client gave back."""
    return Facts(kind=Kind.OTHER, reply=_one(written))


def model_prompt(written: str | None) -> Facts:
    """What a model was told: as a message if it is one text alone, of several the last."""
    one = _one(written)
    if one is None or _BETWEEN in one:
        return Facts(kind=Kind.OTHER, prompt=None if one is None else _last(one))
    return Facts(kind=Kind.OTHER, input=(Message(role="user", parts=(TextPart(text=one),)),))


def completion(written: str | None) -> Facts:
    """What a model answered."""
    one = _one(written)
    return _NOTHING if one is None else Facts(kind=Kind.OTHER, output=(_answer(one),))


def _last(texts: str) -> str | None:
    """The last of several texts, without its quotes; None for an empty one, all of them where no last one's quotes
    pair up."""
    start = texts.rfind(_BETWEEN)
    while start >= 0 and texts.count('"', start + len(_BETWEEN)) % 2:
        start = texts.rfind(_BETWEEN, 0, start)
    return (texts[start + len(_BETWEEN) :] if start >= 0 else texts) or None


def _answer(said: str) -> Message:
    return Message(role="assistant", parts=(TextPart(text=said),))


def _inside(written: str | None) -> str | None:
    return written[1:-1] if written is not None and written.startswith("[") and written.endswith("]") else None


def _one(written: str | None) -> str | None:
    """The text in its quotes; None for an empty one, and for none."""
    inner = _inside(written)
    if inner is None:
        return written or None
    return inner[1:-1] or None if len(inner) > 1 and inner[0] == inner[-1] == '"' else None


_READERS: dict[str, Callable[[str], Facts]] = {
    "Chat Client Prompt Content:": client_prompt,
    "Chat Client Completion:": client_completion,
    "Chat Model Prompt Content:": model_prompt,
    "Chat Model Completion:": completion,
}
"""By the first line of what is logged; the name of the logger is not kept by every way in which logs are collected."""


def read_log(record: LogRecord) -> Facts | None:
    """What a handler logged of the span that the record names; None for other records, and where nothing was said."""
    if not isinstance(record.body, str) or not record.body.startswith("Chat "):
        return None
    title, _, written = record.body.partition("\n")
    reader = _READERS.get(title)
    facts = None if reader is None else reader(written)
    return None if facts == _NOTHING else facts
