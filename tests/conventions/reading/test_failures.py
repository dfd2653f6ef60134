"""What says that a span failed, and what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.conventions.reading.failures import error_in_result
from otel_eval.conventions.registry import facts_of
from otel_eval.signals import SpanEvent
from otel_eval.testing.spans import span

TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"}


def line(name: str, level: str, **attributes: Any) -> SpanEvent:
    """A log line within a span, as Rust's tracing-opentelemetry writes it."""
    return SpanEvent(name=name, time_ns=1, attributes={"level": level, "target": "shop::tools", **attributes})


def error(*events: SpanEvent, **fields: Any) -> str | None:
    """The error of a tool's span whose status is ERROR."""
    attributes = TOOL | fields.pop("attributes", {})
    facts = facts_of(span("execute_tool find", attributes=attributes, events=events, **{"status": "error", **fields}))
    assert facts is not None
    return facts.error


def test_a_log_line_makes_no_failure_of_a_span_that_has_an_outcome() -> None:
    """Rust's layer gives the span its status, without words, for any line of that level."""
    gone = {"gen_ai.tool.call.result": "Gone."}
    assert error(line("cache is down", "ERROR"), attributes=gone) is None
    assert error(line("cache is down", "ERROR")) == "cache is down"
    assert error(line("cache is down", "WARN"), attributes=gone) is not None
    assert error(line("cache is down", "ERROR"), attributes=gone, status_message="no such order") == "no such order"
    assert error(line("cache is down", "ERROR"), attributes={**gone, "error.type": "timeout"}) == "timeout"


@pytest.mark.parametrize("level", ["ERROR", "WARN"])
def test_an_error_without_a_message_is_an_exception(level: str) -> None:
    """So functions say that they failed which are traced with ``err``."""
    failed = line("exception", level, **{"exception.message": "no such order"})
    assert error(failed, attributes={"gen_ai.tool.call.result": "Gone."}) == "no such order"


def raised_in(path: str, more: str = "") -> SpanEvent:
    """An exception whose innermost frame is in that file, or one further in."""
    stack = (
        f'Traceback (most recent call last):\n  File "{path}", line 386, in process\n    it.name\n{more}TypeError: no'
    )
    return SpanEvent(
        name="exception",
        time_ns=1,
        attributes={"exception.type": "TypeError", "exception.message": "no", "exception.stacktrace": stack},
    )


def test_what_openlit_raised_over_an_answer_is_no_failure_of_the_call() -> None:
    """Its ``utils.py`` write attributes; what is called from elsewhere there is the program's."""
    assert error(raised_in("/v/openlit/instrumentation/haystack/utils.py")) is None
    assert error(raised_in("/v/openlit/instrumentation/haystack/haystack.py")) == "TypeError: no"
    assert error(raised_in("/shop/utils.py")) == "TypeError: no"
    further = '  File "/shop/tools.py", line 3, in find\n    raise TypeError("no")\n'
    assert error(raised_in("/v/openlit/instrumentation/haystack/utils.py", further)) == "TypeError: no"


def test_haystacks_words_for_a_tool_that_raised() -> None:
    """Where the tool has no span: in the message that its model is shown."""
    said = "Failed to invoke Tool `find` with parameters {'id': 81}. Error: down"
    assert error_in_result(said) == said
    assert error_in_result(said + "\n2 more") == said + "\n2 more"
    assert error_in_result("Failed to invoke Tool, see the manual.") is None


def test_a_server_of_mcp_may_tell_nothing_of_what_was_raised() -> None:
    """MCP's SDK 2 names the tool alone; OpenAI Agents gives the model the one block that came."""
    said = "Error executing tool check_stock"
    assert error_in_result(said) == said
    assert error_in_result(f'{{"type": "text", "text": "{said}"}}') == said
    assert error_in_result({"type": "text", "text": f"{said}: down"}) == f"{said}: down"
    assert error_in_result({"type": "text", "text": "18 degrees"}) is None
    assert error_in_result("Error executing tool calls is described in chapter 3.") is None


@pytest.mark.parametrize("name", ["exception", "gen_ai.client.operation.exception"])
def test_a_tools_error_is_read_from_either_event(name: str) -> None:
    """An agent's failure is; a tool's cause is the first of them."""
    raised = [
        SpanEvent(name=name, time_ns=1, attributes={"exception.type": kind, "exception.message": kind.lower()})
        for kind in ("KeyError", "ToolError")
    ]
    assert error(*raised, status_message="wrapped") == "KeyError: keyerror"
