"""LlamaIndex's workflows under MLflow: a run with what was asked and replied, and the steps of a state machine below it.

What a run gave stands under ``result``, with the name of the agent that came last; a step takes an event, ``ev``. A
tool's span is named after the method that calls it, with its name as an attribute, a call of a model that streams gives
a generator, and methods that only prepare a request are typed as models, too. Source: mlflow 3.17.2
(``mlflow/llama_index/tracer.py``) with llama-index-core 0.14.
"""

from __future__ import annotations

from typing import Any

from otel_eval.conventions.facts import Convention, Facts, Kind
from otel_eval.conventions.llama_index import agent_named_in
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.messages import read_messages
from otel_eval.conventions.reading.values import decode_leniently, is_object, text
from otel_eval.interaction import Message, TextPart
from otel_eval.signals import Span

_TAKEN, _GIVEN = "mlflow.spanInputs", "mlflow.spanOutputs"
_MANY = "AgentWorkflow"


def read(span: Span) -> Facts | None:
    """A run, its steps, and a tool's name; the rest is for MLflow's convention."""
    kind = decode_leniently(span.attributes.get("mlflow.spanType"))
    owner, _, method = span.name.rpartition(".")
    if kind in ("LLM", "CHAT_MODEL"):
        ours = decode_leniently(span.attributes.get("mlflow.message.format")) == "llamaindex"
        return Facts(kind=Kind.OTHER) if ours and method.startswith("_") else None
    if kind == "TOOL":
        name = text(decode_leniently(span.attributes.get("name")))
        return Facts(kind=Kind.TOOL, tool=name) if name is not None and method in ("call", "acall") else None
    if kind not in ("AGENT", "CHAIN"):
        return None
    content = Content.of(span)
    taken = content.value("input", _TAKEN, twice=False)
    if method == "run" and owner.endswith(("Agent", _MANY)) and is_object(taken) and "user_msg" in taken:
        return _run(span, owner, taken, content)
    if is_object(taken) and "ev" in taken:
        return Facts(kind=Kind.STEP, agent=agent_named_in(span, _TAKEN, _GIVEN), input=(), output=())
    return None


def _run(span: Span, owner: str, taken: dict[str, Any], content: Content) -> Facts:
    given = content.value("output", _GIVEN, twice=False)
    result = given.get("result") if is_object(given) else None
    result = result if is_object(result) else {}
    replied = read_messages([result.get("response")], "assistant") if is_object(result.get("response")) else []
    return Facts(
        kind=Kind.AGENT,
        agent=text(result.get("current_agent_name")) or "" if not owner.endswith(_MANY) else "",
        weak_agent=owner,
        input=(*read_messages(taken.get("chat_history") or []), *_asked(taken["user_msg"])),
        output=(),
        reply=replied[0].text if replied else None,
        failure=failure_of(span),
        marks=content.marks,
    )


def _asked(message: Any) -> tuple[Message, ...]:
    if isinstance(message, str):
        return (Message(role="user", parts=(TextPart(text=message),)),)
    return tuple(read_messages([message], "user")) if is_object(message) else ()


CONVENTION = Convention(name="mlflow-llama-index", read=read, prefixes=("mlflow.spanType",))
