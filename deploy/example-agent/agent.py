"""An agent to try the pipeline with: Pydantic AI, one tool, and a scripted model, so that no key is needed.

It answers questions about orders. Mostly it looks the order up; one time in CARELESS it answers from nothing, which an
evaluator should find. Configured as any OpenTelemetry program: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME, …

    RUNS=10 INTERVAL=0.2 CARELESS=4 python agent.py
"""

from __future__ import annotations

import os
import sys
import time

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

ORDERS = {"o_9": "delivered", "o_43": "on its way"}


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """What a model would say: look the order up, then tell its state; or, where asked in a hurry, make something up."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        return ModelResponse(parts=[TextPart(f"I looked it up: your order is {last.content}.")])
    if "quickly" in str(getattr(last, "content", "")):
        return ModelResponse(parts=[TextPart("I am sure that your order is fine.")])
    return ModelResponse(parts=[ToolCallPart("get_order", {"order_id": "o_9"})])


def build() -> Agent[None, str]:
    """The agent. The first line is all that its telemetry needs."""
    Agent.instrument_all()
    agent = Agent(FunctionModel(scripted), name="support-agent")

    @agent.tool_plain
    def get_order(order_id: str) -> str:
        """The state of an order."""
        return ORDERS[order_id]

    return agent


def main() -> None:
    """Answer RUNS questions (0: for ever), INTERVAL seconds apart; a line for each, with its trace id."""
    runs, careless = int(os.environ.get("RUNS", "0")), int(os.environ.get("CARELESS", "4"))
    interval = float(os.environ.get("INTERVAL", "2"))
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=500))
    trace.set_tracer_provider(provider)
    agent, done = build(), 0
    while not runs or done < runs:
        done += 1
        hurry = careless and done % careless == 0
        question = "Tell me quickly, is my order fine?" if hurry else "Where is my order o_9?"
        with trace.get_tracer("shop").start_as_current_span("POST /support") as span:
            reply = agent.run_sync(question).output
        sys.stdout.write(f"{span.get_span_context().trace_id:032x} asked: {question} replied: {reply}\n")
        sys.stdout.flush()
        time.sleep(interval)
    provider.shutdown()


if __name__ == "__main__":
    main()
