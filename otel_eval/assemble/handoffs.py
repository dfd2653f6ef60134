"""Handoffs: tool calls by which one agent passes on to another, which are none of its tools'."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from otel_eval.assemble.tool_spans import letters
from otel_eval.interaction import ToolCall

_HANDOFF = re.compile(r"(?:transfer|hand_?off)(?:_?back)?_?to_?(.*)", re.I)
_TRANSFERRED = re.compile(r"Successfully transferred (?:back )?to (.+)")


def handoff_test(agents: Iterable[str], steps: Iterable[str] = ()) -> Callable[[str], bool]:
    """Whether a tool's name says that it hands over to one of those agents, or to one of those steps: a graph's nodes."""
    others, nodes = {letters(name) for name in agents}, {letters(name) for name in steps}

    def is_handoff(name: str) -> bool:
        match = _HANDOFF.fullmatch(name.strip())
        if match is None:
            return False
        target = letters(match[1])
        return target in nodes or target in others or (target == "agent" and bool(others))

    return is_handoff


def handed_over(call: ToolCall) -> bool:
    """Whether what it gave says so, in the words of the OpenAI Agents SDK, or of LangGraph's supervisors and swarms."""
    match, said = _HANDOFF.fullmatch(call.name.strip()), call.result
    if match is None:
        return False
    told = _TRANSFERRED.fullmatch(said) if isinstance(said, str) else None
    agent = (
        told[1] if told is not None else said.get("assistant") if isinstance(said, dict) and len(said) == 1 else None
    )
    return isinstance(agent, str) and letters(agent) == letters(match[1])
