"""Claude Code's log records: what the user wrote, what it answered, and what its tools took.

Spans of Claude Code hold neither the reply nor the arguments of tools; its records do, under the span that they name: the
interaction's, or that of the tool's execution in which a subagent ran. Without traces the records name no span.
Source: claude-code 2.x as shipped in claude-agent-sdk 0.2.189.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_eval.conventions.facts import Facts, Kind
from otel_eval.conventions.reading.content import Content
from otel_eval.conventions.reading.values import decode_leniently, is_object, text
from otel_eval.interaction import GapKind, JsonValue, Message, TextPart, ToolCallPart, ToolResultPart
from otel_eval.signals import LogRecord

SCOPE = "com.anthropic.claude_code"
_PREFIX = "claude_code."


def read_log(record: LogRecord) -> Facts | None:
    """What a record of Claude Code says of the invocation that it names; None for other records."""
    if not record.scope.name.startswith(SCOPE):
        return None
    content = Content(record.attributes)
    match record.event_name.removeprefix(_PREFIX):
        case "user_prompt":
            asked = _shown(content, "input", "prompt")
            return _facts(content, input=None if asked is None else (_said(asked, "user"),))
        case "assistant_response":
            said = _shown(content, "output", "response")
            return _facts(content, output=None if said is None else (_said(said, "assistant"),))
        case "tool_result":
            return _tool(content)
        case "subagent_completed":
            return _facts(content, agent=text(record.attributes.get("agent_type")))
    return None


def _facts(content: Content, **told: Any) -> Facts:
    return Facts(kind=Kind.AGENT, marks=content.marks, **told)


def _said(said: str, role: str) -> Message:
    return Message(role=role, parts=(TextPart(text=said),))


def _shown(content: Content, field: str, key: str) -> str | None:
    raw = content.attributes.get(key)
    if not isinstance(raw, str) or not raw or content.hidden(field, raw):
        return None
    if content.attributes.get(f"{key}_truncated") in (True, "true"):
        content.mark(field, GapKind.TRUNCATED)
    return raw


def _tool(content: Content) -> Facts | None:
    """The call with its arguments; what it gave back only where it failed: of a success the record has the size alone."""
    attributes = content.attributes
    name, call_id = tool_name(attributes), text(attributes.get("tool_use_id"))
    if name is None or call_id is None:
        return None
    call = ToolCallPart(name=name, arguments=_arguments(attributes), call_id=call_id)
    messages = [Message(role="assistant", parts=(call,))]
    if attributes.get("success") in (False, "false"):
        error = text(attributes.get("error")) or text(attributes.get("error_type"))
        messages.append(Message(role="tool", parts=(ToolResultPart(result=error, call_id=call_id, failed=True),)))
    return _facts(content, output=tuple(messages))


def _arguments(attributes: Mapping[str, Any]) -> JsonValue:
    told = decode_leniently(attributes.get("tool_input"))
    return told if is_object(told) else None


def tool_name(attributes: Mapping[str, Any]) -> str | None:
    """As the model knows it. Tools of MCP servers are ``mcp_tool`` in records, with the names of both beside it."""
    name = text(attributes.get("tool_name"))
    if name != "mcp_tool":
        return name
    of = decode_leniently(attributes.get("tool_parameters"))
    if not is_object(of):
        return None
    server, tool = text(of.get("mcp_server_name")), text(of.get("mcp_tool_name"))
    return None if server is None or tool is None else f"mcp__{server}__{tool}"
