"""Rig, for Rust: spans of the ``tracing`` crate, exported by tracing-opentelemetry.

``invoke_agent`` has what was asked and answered as plain texts, ``chat`` the messages, ``execute_tool`` the rest. The agent's
span is opened only where the program has none of its own around the run: below one, and for an agent that is another's
tool, model and tool spans alone tell of it. ``Agent::chat`` is such a span, with the agent's name.

No span has a status. A run that fails leaves its answer and its tokens unwritten, and since 0.41 a model call that fails all
that its response would have told. What a failed tool gave is what its error shows to a model; its outcome says so.

Since 0.40 content is off until it is asked for. Before, prompts and tools were always written and messages never; and a run
without a span of the program's around it lost its context, so that each model and tool span was a trace of its own. Such a
model span holds tokens alone, which the agent's has as well.
Source: rig-core 0.31.0 and 0.39.0 (``agent/prompt_request``), 0.40.0 (``agent/runner.rs``); rig-core and rig-agent 0.44.0
and 0.46.0 (``telemetry``, ``agent/engine.rs``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import MISSING, NO_USAGE, TOOL_CALLS, Convention, Facts, Kind, Mark
from otel_eval.conventions.reading.content import Content, usage_of
from otel_eval.conventions.reading.failures import failure_of
from otel_eval.conventions.reading.languages import RUST_KEYS, rust_module
from otel_eval.conventions.reading.values import decode_leniently, first_text, is_object, text
from otel_eval.interaction import Failure, GapKind
from otel_eval.signals import Span

CRATES = ("rig::", "rig_core::", "rig_agent::")
SETTING = "AgentBuilder::record_content_telemetry(true)"
OLD = "rig::agent::prompt_request"
"""Where the agent's span was opened until 0.39; that of a stream, in a module below it, kept its context."""
OLD_SETTING = "rig 0.40 or a span of your own around the run"

OUTPUT_TOOLS = (
    "Submit the structured data you extracted from the provided text.",  # the extractor's
    "Call this tool exactly once with your final answer when you are done.",
)
"""How descriptions begin of tools with which a model hands over structured output: nothing is called."""

_RESPONSE = ("gen_ai.response.id", "gen_ai.response.model", "gen_ai.output.messages")
_TURN = "Current conversation Turns: "
_FINISHED = "Agent run finished"
_UNANSWERED = Failure(message="the model call ended without a response")
_UNFINISHED = Failure(message="the run ended without an answer")


def read(span: Span) -> Facts | None:
    """What Rig says beyond the semantic conventions; None for spans of other crates."""
    module = rust_module(span)
    if not module.startswith(CRATES):
        return None
    attributes = span.attributes
    match attributes.get("gen_ai.operation.name"):
        case "invoke_agent":
            return _run(span, Content.of(span), lost=module == OLD)
        case "chat" if (
            span.parent_id is None and module == "rig::agent_chat" and "gen_ai.input.messages" not in attributes
        ):
            return Facts(kind=Kind.OTHER)
        case "chat" | "generate_content":
            return Facts(
                kind=Kind.MODEL,
                failure=failure_of(span) or _unanswered(attributes),
                setting=SETTING,
                pseudo_tools=_output_tools(attributes.get("gen_ai.tool.definitions")),
            )
        case "execute_tool":
            return _tool(attributes, Content.of(span))
        case None if span.name == "chat" and "agent_name" in attributes:
            return Facts(kind=Kind.AGENT, agent=text(attributes["agent_name"]), failure=failure_of(span))
    return None


def _run(span: Span, content: Content, *, lost: bool) -> Facts:
    """One run. Its texts are texts, even where a user or a model wrote JSON. ``lost``: what it did stands elsewhere."""
    asked, reply = (
        _plain(content, field, f"gen_ai.{key}") for field, key in (("input", "prompt"), ("output", "completion"))
    )
    return Facts(
        kind=Kind.AGENT,
        input=None if asked is None else (),
        asked=asked,
        output=() if "gen_ai.completion" in content.attributes else None,
        reply=reply,
        failure=failure_of(span) or _unfinished(span),
        marks=(*content.marks, *([Mark(field=TOOL_CALLS, kind=GapKind.NOT_CAPTURED)] if lost else ())),
        setting=OLD_SETTING if lost else SETTING,
    )


def _plain(content: Content, field: str, key: str) -> str | None:
    raw = content.attributes.get(key)
    return raw if isinstance(raw, str) and raw and not content.hidden(field, raw) else None


def _unfinished(span: Span) -> Failure | None:
    """A run that came to its end has its tokens; one of a stream its answer after each turn."""
    attributes = span.attributes
    if usage_of(attributes) != NO_USAGE:
        return None
    events = [event.name for event in span.events]
    cut_short = any(name.startswith(_TURN) for name in events) and _FINISHED not in events
    return (
        _UNFINISHED if cut_short or ("gen_ai.prompt" in attributes and "gen_ai.completion" not in attributes) else None
    )


def _unanswered(attributes: Mapping[str, Any]) -> Failure | None:
    """Since 0.41 one place writes what any provider answered, into a span that says which provider was asked."""
    if "rig.completion_parent" not in attributes or "gen_ai.provider.name" not in attributes:
        return None
    told = any(key in attributes for key in _RESPONSE) or usage_of(attributes) != NO_USAGE
    return None if told else _UNANSWERED


def _output_tools(raw: object) -> tuple[str, ...]:
    definitions = decode_leniently(raw) if raw is not None else None
    tools = [each for each in definitions if is_object(each)] if isinstance(definitions, list) else []
    return tuple(
        name
        for each in tools
        if str(each.get("description")).startswith(OUTPUT_TOOLS) and (name := text(each.get("name"))) is not None
    )


def _tool(attributes: Mapping[str, Any], content: Content) -> Facts:
    if attributes.get("gen_ai.tool.call.outcome") != "error":
        return Facts(kind=Kind.TOOL, setting=SETTING)
    said = content.result("result", "gen_ai.tool.call.result")
    kind = first_text(attributes, ("gen_ai.tool.error.type",))
    return Facts(
        kind=Kind.TOOL,
        error=kind or "gen_ai.tool.call.outcome is error" if said is MISSING or not said else str(said),
        marks=content.marks,
        setting=SETTING,
    )


CONVENTION = Convention(name="rig", read=read, prefixes=("rig.", "gen_ai.", "agent_name"), needs=RUST_KEYS)
