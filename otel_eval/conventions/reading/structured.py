"""LangChain's structured answers: ``structuredResponse`` (``structured_response`` in Python) beside an agent's messages.

Where the model gives it by a tool call, ``ToolStrategy``, that call is plumbing, and what the messages end with is
LangChain's own sentence ("Returning structured response: …") or one of the program's choice.
Source: langchain 1.5 for JavaScript (``agents/nodes/AgentNode``), 1.0 for Python (``agents/factory.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.conventions.reading.messages import asked_for
from otel_eval.conventions.reading.values import decode_leniently, is_object, plain
from otel_eval.interaction import Message
from otel_eval.json_text import dumps

_KEYS = ("structuredResponse", "structured_response")
_SENTENCE = "Returning structured response: "


def structured_in(state: Mapping[str, Any], messages: Sequence[Message]) -> tuple[str | None, tuple[str, ...]]:
    """An agent's structured answer in JSON, and under which names the model gave it as a call of a tool.

    A state without the answer (Langfuse keeps the messages alone) has it in LangChain's sentence at the end, if that says
    what the last call was given.
    """
    answer: Any = next((state[key] for key in _KEYS if is_object(state.get(key))), None)
    calls = list(asked_for(messages))
    if answer is None and calls and (said := messages[-1].text or "").startswith(_SENTENCE):
        answer = calls[-1].arguments if decode_leniently(said.removeprefix(_SENTENCE)) == calls[-1].arguments else None
    if answer is None:
        return None, ()
    answer = plain(answer)
    given = (calls[-1].name,) if calls and calls[-1].arguments == answer else ()
    return dumps(answer).decode(), given
