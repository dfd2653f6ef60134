"""DSPy under OpenInference: programs that take and give named fields.

Source: openinference-instrumentation-dspy 0.1 with dspy 2.6 to 3.4. There is no agent: the outermost module is what was
asked, ``ReAct.forward`` with ``{"input_args": {"question": …}}``. What it gives are its own steps and then its
output fields. A tool's span is named ``tool.__call__``; ``finish`` only ends ReAct. What the model is sent is a
rendering of the fields. ``ReActV2`` (dspy 3.4) ends with a tool of its own, ``submit``, no other tool can have that
name, and gives its conversation and why it ended beside its output fields.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import MISSING, Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.payloads import Payload, input_of, output_of
from otel_eval.conventions.reading.reprs import CutRepr, objects_in, value_in
from otel_eval.conventions.reading.values import is_object, plain
from otel_eval.frozen import changed
from otel_eval.signals import Span

_SCOPE = "openinference.instrumentation.dspy"
_FORWARD = (".forward", ".aforward", ".acall")
_CALL = (".__call__", ".acall")
_STEPS = frozenset({"trajectory", "reasoning", "rationale"})
_ENDING = frozenset({"history", "termination_reason"})
"""What ReActV2 gives beside its output fields, whose names none of these can have."""
_FINISH = "finish"
SUBMIT = "submit"
_SUBMITTING = "ReActV2"


def read(span: Span) -> Facts | None:
    """A module's fields and a tool's name; the rest is for OpenInference's convention."""
    if not span.scope.name.startswith(_SCOPE):
        return None
    kind = span.attributes.get("openinference.span.kind")
    if kind == "TOOL":
        return _tool(span)
    if kind == "CHAIN":
        return _module(span) if span.name.endswith(_FORWARD) else Facts(kind=Kind.STEP)
    return None


def _tool(span: Span) -> Facts:
    """Its result is JSON, a text too."""
    name = _without(span.name, _CALL)
    content = Content.of(span)
    result = content.value("result", "output.value", twice=False)
    return Facts(
        kind=Kind.STEP if name == _FINISH else Kind.TOOL,
        tool=name or None,
        result=MISSING if result is MISSING else plain(result),
        marks=content.marks,
        pseudo_tools=(_FINISH,),
    )


def _without(name: str, endings: tuple[str, ...]) -> str:
    for ending in endings:
        name = name.removesuffix(ending)
    return name


def _module(span: Span) -> Facts:
    content = Content.of(span)
    taken = content.value("input", "input.value")
    given = content.value("output", "output.value")
    if is_object(taken) and is_object(taken.get("input_args")):
        taken = taken["input_args"]
    name = _without(span.name, _FORWARD)
    return changed(module_facts(name, taken, given), failure=failure_of(span), marks=content.marks)


def module_facts(name: str, taken: Any, given: Any) -> Facts:
    """What a module of that name took and gave, as fields; ``given`` may be a prediction in Python's words."""
    fields = _predicted(given) if isinstance(given, str) else given if is_object(given) else {}
    submitting = name == _SUBMITTING or fields.keys() >= _ENDING
    if submitting:
        fields = {key: field for key, field in fields.items() if key not in _ENDING}
    asked, reply = _asked(taken), _reply(fields)
    return Facts(
        kind=Kind.WORKFLOW,
        weak_agent=name or None,
        input=asked.messages,
        asked=asked.text,
        reply=reply,
        pseudo_tools=(SUBMIT,) if submitting else (),
    )


def _asked(taken: Any) -> Payload:
    return input_of(_fields(taken)) if is_object(taken) else Payload()


def _reply(given: dict[str, Any]) -> str | None:
    fields = _fields(given)
    texts = [value for value in fields.values() if isinstance(value, str)]
    if len(fields) == 1 and texts:
        return texts[0]
    return output_of(fields).text if fields else None


def _predicted(said: str) -> dict[str, Any]:
    """The fields of a prediction in Python's words, as the instrumentation wrote them until 0.1.25."""
    try:
        found = objects_in(said, "Prediction")
    except CutRepr:
        return {}
    return {name: value_in(field) for name, field in found[0].items()} if found else {}


def _fields(value: Any) -> dict[str, Any]:
    return {} if not is_object(value) else {name: field for name, field in value.items() if name not in _STEPS}


CONVENTION = Convention(name="dspy", read=read, scopes=(_SCOPE,))
