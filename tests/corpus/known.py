"""The captures that do not come out as the program recorded, each with why. Nothing else may be wrong."""

from __future__ import annotations

KNOWN: dict[str, str] = {
    "langchain-js--traceloop/stream": (
        "The record is wrong, not the reading: the program took an empty text from its stream, so its own record says that "
        "there was no reply, while the last model's call holds it."
    ),
    "openai-agents--official/agenttool": (
        "No span holds what the outer agent replied: without the instrumentation of the model's client there are no model "
        "calls. The text stands there only as the result of the tool that is the inner agent, and an agent may reply "
        "something else than what its tool returned."
    ),
}

_TIME = "Nothing but time joins its traces; a server joins none by time alone."

APART: dict[str, str] = {
    "langchain-js--traceloop/handoff": _TIME,
    "langchain-js--traceloop/nocontent": _TIME,
}
"""The captures that a server, to which they arrive bit by bit, tells otherwise than a folder that is read whole."""
