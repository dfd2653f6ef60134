"""An agent program as it would be anywhere else: it knows OpenTelemetry, and nothing of otel-eval."""

import json
import os
import sys

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator


def main() -> None:
    provider = TracerProvider(resource=Resource({"service.name": "elsewhere"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    tracer = trace.get_tracer("elsewhere")
    context = TraceContextTextMapPropagator().extract({"traceparent": os.environ["TRACEPARENT"]})
    asked, reply = sys.argv[1], "It was delivered."
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "shop",
        "gen_ai.input.messages": message("user", asked),
        "gen_ai.output.messages": message("assistant", reply),
    }
    with tracer.start_as_current_span("invoke_agent shop", context=context, attributes=attributes):
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "getOrder"}
        with tracer.start_as_current_span("execute_tool getOrder", attributes=tool):
            pass
    provider.shutdown()
    print(reply)


def message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


if __name__ == "__main__":
    main()
