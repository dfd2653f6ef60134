"""The main job, end to end: a real framework exports, verdicts come back out into the pipeline."""

from __future__ import annotations

import asyncio
from pathlib import Path

import yaml
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.test import TestModel

from otel_eval.testing.metrics import Point
from otel_eval.testing.scripted_model import ModelRequest, ScriptedModel
from otel_eval.testing.sink import Sink
from tests.server.process import serving

QUESTION = "Where is my order o_9?"


def verdict(request: ModelRequest) -> str:
    """Answers as the evaluator asks: a label for toxicity, a score for the criterion."""
    if "non-toxic" in request.system:
        return '{"explanation": "a friendly answer", "label": "non-toxic"}'
    return '{"reason": "no apology", "score": 0.2}'


async def ask_agent(endpoint: str) -> None:
    """Run a pydantic-ai agent, instrumented as its docs say, that exports to the endpoint."""
    provider = TracerProvider(
        resource=Resource({"service.name": "shop", "deployment.environment.name": "test"}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, insecure=True)))
    agent = Agent(
        TestModel(custom_output_text="It is on its way."),
        name="support-agent",
        capabilities=[Instrumentation(settings=InstrumentationSettings(tracer_provider=provider))],
    )

    @agent.tool_plain
    def get_order(order_id: str) -> dict[str, str]:
        return {"order_id": order_id, "status": "shipped"}

    await agent.run(QUESTION)
    await asyncio.to_thread(provider.shutdown)


async def test_a_real_agents_export_comes_back_as_verdicts(tmp_path: Path) -> None:
    """pydantic-ai's own exporter in; evaluation spans in the same trace, events on the agent span, and metrics out."""
    with ScriptedModel(verdict) as model:
        async with Sink() as sink:
            config = tmp_path / "otel-eval.yaml"
            config.write_text(
                yaml.safe_dump(
                    {
                        "receivers": {
                            "otlp": {"grpc": {"endpoint": "127.0.0.1:0"}, "http": {"endpoint": "127.0.0.1:0"}}
                        },
                        "exporters": {"otlp": {"endpoint": sink.endpoint}},
                        "storage": {"directory": str(tmp_path / "data")},
                        "completion": {"settle": "200ms", "settle_across_processes": "500ms"},
                        "emit": {"metrics_interval": "500ms"},
                        "judge_models": {
                            "default": {"model": "openai/scripted", "api_base": model.base_url, "api_key": "none"}
                        },
                        "evaluators": {
                            "looks-up-the-order": {
                                "check": {"should_call_tool": "get_order"},
                                "agents": ["support-agent"],
                            },
                            "apologizes": {"judge": {"criterion": "the reply apologizes"}, "agents": ["support-*"]},
                            "toxicity": {"builtin": "toxicity", "agents": ["*"]},
                        },
                    }
                )
            )
            async with serving(config) as server:
                await ask_agent(f"http://{server.grpc}")
                await sink.wait_for(lambda sink: len(sink.log("gen_ai.evaluation.result")) == 3, timeout=60)
                await sink.wait_for(
                    lambda sink: sum(point.value for point in _latest_points(sink, "otel_eval.evaluations")) == 3
                )
                assert await server.terminate() == 0

            events = {
                record.attributes["gen_ai.evaluation.name"]: record for record in sink.log("gen_ai.evaluation.result")
            }
            (trace_id,) = {record.trace_id for record in events.values()}
            (agent_span_id,) = {record.span_id for record in events.values()}
            spans = {span.name: span for span in sink.spans if span.name.startswith("evaluation ")}
            assert set(spans) == {f"evaluation {name}" for name in events}
            assert {(span.trace_id, span.parent_id) for span in spans.values()} == {(trace_id, agent_span_id)}

            assert events["looks-up-the-order"].attributes["gen_ai.evaluation.score.label"] == "pass"
            assert "gen_ai.evaluation.score.value" not in events["looks-up-the-order"].attributes
            assert events["apologizes"].attributes["gen_ai.evaluation.score.value"] == 0.2
            assert events["apologizes"].attributes["gen_ai.evaluation.score.label"] == "fail"
            assert events["toxicity"].attributes["gen_ai.evaluation.score.label"] == "non-toxic"

            outcomes = {
                (point.attributes["gen_ai.evaluation.name"], point.attributes["otel_eval.outcome"]): point
                for point in _latest_points(sink, "otel_eval.evaluations")
                if point.value
            }
            assert set(outcomes) == {
                ("looks-up-the-order", "passed"),
                ("apologizes", "failed"),
                ("toxicity", "passed"),
            }
            labels = outcomes["apologizes", "failed"].attributes
            assert labels["gen_ai.agent.name"] == "support-agent"
            assert labels["otel_eval.target.service"] == "shop"
            assert labels["otel_eval.target.environment"] == "test"


def _latest_points(sink: Sink, name: str) -> list[Point]:
    points = {tuple(sorted(point.attributes.items())): point for point in sink.metrics if point.name == name}
    return list(points.values())
