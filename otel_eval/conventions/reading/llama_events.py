"""The event that ends a run of LlamaIndex's workflows, as Python writes it: cut after some 200 characters.

Source: llama-index-workflows 2.26 (``StopEvent``), llama-index-core 0.14 (``AgentOutput``).
"""

from __future__ import annotations

import ast
import re

_TEXT = r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_ANSWERED = re.compile(
    r"StopEvent\(result=AgentOutput\(response=ChatMessage\(role=<MessageRole\.ASSISTANT: 'assistant'>, "
    rf"additional_kwargs=\{{.*?\}}, blocks=\[TextBlock\(block_type='text', text={_TEXT}\)\]",
    re.S,
)
_RETURNED = re.compile(rf"StopEvent\(result={_TEXT}\)$", re.S)
_CUT = re.compile(r"StopEvent\(result=(?:AgentOutput\(|['\"])")


def ended_with(given: object) -> str | None:
    """The whole text that an agent answered with, or that a workflow returned; None for another event, or a cut one."""
    if not isinstance(given, str) or (found := _ANSWERED.match(given) or _RETURNED.match(given)) is None:
        return None
    said = ast.literal_eval(found[1])
    return said if isinstance(said, str) else None


def is_end_cut(given: object) -> bool:
    """Whether a text stood there that is not whole."""
    return isinstance(given, str) and _CUT.match(given) is not None and ended_with(given) is None
