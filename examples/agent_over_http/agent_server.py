"""An agent behind HTTP, as a program of its own: it knows OpenTelemetry and nothing of otel-eval.

It goes on with the caller's trace, as any instrumented web framework does, and exports over OTLP to where the standard
environment variables say. The first line that it prints is its port.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider(resource=Resource.create({"service.name": "order-agent"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("order-agent")


def answer(asked: str) -> str:
    """One invocation, with one tool call, written as OpenTelemetry's GenAI conventions say."""
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "order-agent"}
    with tracer.start_as_current_span("invoke_agent order-agent", attributes=agent) as span:
        span.set_attribute("gen_ai.input.messages", message("user", asked))
        tool = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "getOrder",
            "gen_ai.tool.call.arguments": json.dumps({"orderId": "o_9"}),
        }
        with tracer.start_as_current_span("execute_tool getOrder", attributes=tool) as call:
            order = {"id": "o_9", "status": "delivered"}
            call.set_attribute("gen_ai.tool.call.result", json.dumps(order))
        reply = f"Your order {order['id']} is {order['status']}."
        span.set_attribute("gen_ai.output.messages", message("assistant", reply))
    return reply


def message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


class Chat(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["content-length"])).decode()
        with tracer.start_as_current_span(
            "POST /chat", context=extract(dict(self.headers)), kind=trace.SpanKind.SERVER
        ):
            reply = answer(asked).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    print(server.server_address[1], flush=True)
    server.serve_forever()
