"""DSPy under MLflow: modules that take and give named fields, as under OpenInference.

A module's span is named ``Class.forward``: an agent for ``ReAct``, a language model for ``Predict`` and its like, which only
render their fields for the model whose span is below, a chain for all else. A tool's is ``Tool.name``, with its name as an
attribute. With ``MLFLOW_ENABLE_OTEL_GENAI_SEMCONV`` no fields are written, and of a module that is no agent no name either:
what ``ReActV2`` replied is then what it called its own tool with.
Source: mlflow 3.17.2 (``mlflow/dspy/callback.py``) with dspy 3.4.
"""

from __future__ import annotations

from otel_eval.conventions.dspy import SUBMIT, module_facts
from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.values import decode_leniently, text
from otel_eval.frozen import changed
from otel_eval.signals import Span

_SCOPE = "mlflow."
_TYPES = ("AGENT", "CHAIN", "LLM")
_FORWARD = ".forward"
_AGENT = "gen_ai.agent.name"
_TOOL = "Tool."
_SUBMITS = "Submit the final outputs for the task."


def read(span: Span) -> Facts | None:
    """A module's fields and a tool's name; the rest is for MLflow's convention."""
    attributes = span.attributes
    if not span.scope.name.startswith(_SCOPE):
        return None
    kind = decode_leniently(attributes.get("mlflow.spanType")) or attributes.get("gen_ai.operation.name")
    if kind in ("TOOL", "execute_tool"):
        return _tool(span)
    if kind in _TYPES and span.name.endswith(_FORWARD):
        return _module(span)
    if kind == "generate_content" and "signature" in attributes:
        return Facts(kind=Kind.WORKFLOW, weak_agent="Predict", failure=failure_of(span))
    name = text(attributes.get(_AGENT))
    if kind == "invoke_agent" and name is not None and name.endswith(_FORWARD):
        return Facts(kind=Kind.AGENT, agent="", weak_agent=name.removesuffix(_FORWARD))
    return None


def _module(span: Span) -> Facts:
    content = Content.of(span)
    taken = content.value("input", "mlflow.spanInputs", twice=False)
    given = content.value("output", "mlflow.spanOutputs", twice=False)
    facts = module_facts(span.name.removesuffix(_FORWARD), taken, given)
    return changed(facts, failure=failure_of(span), marks=content.marks, aggregated=True)


def _tool(span: Span) -> Facts | None:
    name = text(decode_leniently(span.attributes.get("name")))
    if name is None or not span.name.endswith(_TOOL + name):
        return None
    if name != SUBMIT or decode_leniently(span.attributes.get("description")) != _SUBMITS:
        return Facts(kind=Kind.TOOL, tool=name)
    given = Content.of(span).value("output", "gen_ai.tool.call.result", twice=False)
    return Facts(kind=Kind.STEP, tool=name, reply=module_facts("", None, given).reply, pseudo_tools=(SUBMIT,))


CONVENTION = Convention(name="mlflow-dspy", read=read, scopes=(_SCOPE,))
