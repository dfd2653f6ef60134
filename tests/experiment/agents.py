"""Agents under test, instrumented by hand as OpenTelemetry's GenAI conventions say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.trace import TracerProvider

from otel_eval.experiment.current import current_attempt
from otel_eval.experiment.telemetry import InProcess


class Shop:
    """A support agent with providers of its own. ``session`` None: the attempt's; ``reply`` and ``tools`` by command."""

    def __init__(self, **provider) -> None:
        self.tracers = TracerProvider(shutdown_on_exit=False, **provider)
        self.loggers = LoggerProvider(shutdown_on_exit=False)
        self.tracer = self.tracers.get_tracer("shop")
        self.telemetry = InProcess(tracer_provider=self.tracers, logger_provider=self.loggers, patience=2.0)
        self.commands: list[str] = []

    @contextmanager
    def invocation(
        self, asked: str | None, reply: str | None, *, session: str | None = None, name: str = "shop", context=None
    ) -> Iterator:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        attributes["gen_ai.conversation.id"] = current_attempt().session_id if session is None else session
        if asked is not None:
            attributes["gen_ai.input.messages"] = messages("user", asked)
        with self.tracer.start_as_current_span(f"invoke_agent {name}", attributes=attributes, context=context) as span:
            yield span
            if reply is not None:
                span.set_attribute("gen_ai.output.messages", messages("assistant", reply))

    def call_tool(self, name: str, arguments: dict, result: object) -> None:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.arguments": json.dumps(arguments),
            "gen_ai.tool.call.result": json.dumps(result),
        }
        with self.tracer.start_as_current_span(f"execute_tool {name}", attributes=attributes):
            pass

    def __call__(self, command: str) -> str:
        self.commands.append(command)
        reply = f"You said: {command}"
        with self.invocation(command, reply):
            self.call_tool("getOrder", {"orderId": "o_9"}, {"status": "delivered"})
        return reply


def messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
