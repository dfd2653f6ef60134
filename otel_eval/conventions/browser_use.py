"""browser-use under Laminar: ``agent.run``, a span for each step, and one of type TOOL for each action.

Source: browser-use 0.13.14 (``agent/service.py``, ``tools/service.py``), lmnr 0.8.2. The run's span has neither input nor
output. What the user asked stands in the prompt of each step, in ``<user_request>``, between the agent's history and the page.
The model answers with an object whose ``action`` lists what to do; the action ``done`` ends the run with the reply. What an
action gave is an ``ActionResult``. A judge reads the run afterwards, if one is set up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import decode_leniently, is_object, plain, text
from otel_eval.interaction import JsonValue, Message, TextPart, ToolCallPart
from otel_eval.signals import Span

_SCOPE = "lmnr."
_DONE = "done"
_KINDS: dict[str, Kind] = {
    "agent.run": Kind.AGENT,
    "agent.step": Kind.STEP,
    "_judge_trace": Kind.EVALUATOR,
    "_llm_call_timed_out_with_input": Kind.OTHER,
}
_REQUEST = re.compile(r"<user_request>\n(.*?)\n</user_request>", re.S)
_FOLLOWING = re.compile(r"<follow_up_user_request>\s*(.*?)\s*</follow_up_user_request>", re.S)


def read(span: Span) -> Facts | None:
    """Runs, steps, actions, and model calls with such a prompt; None for what else Laminar traces."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    kind = _KINDS.get(span.name)
    if kind is Kind.AGENT:
        return Facts(kind=kind, agent="", weak_agent=span.name, pseudo_tools=(_DONE,), failure=failure_of(span))
    if kind is not None:
        return Facts(kind=kind)
    type_name = span.attributes.get("lmnr.span.type")
    if type_name == "TOOL":
        return _action(span)
    return _call(span) if type_name == "LLM" else None


def _action(span: Span) -> Facts | None:
    content = Content.of(span)
    taken = content.value("arguments", "lmnr.span.input", twice=False)
    if not is_object(taken) or set(taken) != {"action", "params"}:
        return None
    given = content.value("result", "lmnr.span.output", twice=False)
    told = given if is_object(given) else {}
    if taken["action"] == _DONE:
        params = taken["params"]
        return Facts(kind=Kind.STEP, reply=text(params.get("text")) if is_object(params) else None, marks=content.marks)
    return Facts(
        kind=Kind.TOOL,
        tool=text(taken["action"]),
        arguments=plain(taken["params"]),
        result=MISSING if given is MISSING else _told(told.get("extracted_content")),
        error=text(told.get("error")),
        marks=content.marks,
    )


def _told(extracted: object) -> JsonValue:
    value = decode_leniently(extracted)
    return plain(value) if is_object(value) or isinstance(value, list) else plain(extracted)


def _call(span: Span) -> Facts | None:
    """A step's call: the prompt is no question, and the actions that it lists are calls of tools."""
    content = Content.of(span)
    taken = read_messages(content.value("input", "gen_ai.input.messages"))
    asked = _asked(taken)
    if asked is None:
        return None
    given = read_messages(content.value("output", "gen_ai.output.messages"), "assistant")
    return Facts(
        kind=Kind.MODEL, input=taken, new_from=len(taken), prompt=asked, output=_acting(given), marks=content.marks
    )


def _asked(messages: Sequence[Message]) -> str | None:
    """The request in the user's messages (the instructions speak of the tag), or the last of those that followed it."""
    texts = [message.text for message in messages if message.role == "user" and message.text]
    found: list[str] = [request for said in texts for request in _REQUEST.findall(said)]
    return (_FOLLOWING.findall(found[-1]) or found)[-1] if found else None


def _acting(messages: Sequence[Message]) -> tuple[Message, ...] | None:
    for message in messages:
        answer = decode_leniently(message.text)
        actions = answer.get("action") if is_object(answer) else None
        if isinstance(actions, list):
            calls = [
                ToolCallPart(name=name, arguments=plain(arguments))
                for action in actions
                if is_object(action)
                for name, arguments in action.items()
            ]
            return (replace(message, parts=(TextPart(text=message.text or ""), *calls)),)
    return tuple(messages) or None


CONVENTION = Convention(name="browser-use", read=read, scopes=(_SCOPE,))
