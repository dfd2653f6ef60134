import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.sink import Partial, Refusing, Sink
from otel_eval.testing.spans import agent_span

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def export(sink: Sink, body: bytes) -> ExportTraceServiceResponse:
    with grpc.insecure_channel(sink.endpoint.removeprefix("http://")) as channel:
        call = channel.unary_unary(EXPORT, response_deserializer=ExportTraceServiceResponse.FromString)
        return call(body, timeout=5)


@pytest.mark.parametrize("exporter", ["grpc", "http"])
async def test_the_sdks_exporters_arrive(exporter):
    """Spans of the real exporters are decoded, over gRPC and over HTTP with gzip."""
    async with Sink() as sink:
        if exporter == "grpc":
            sender = OTLPSpanExporter(endpoint=sink.endpoint, insecure=True)
        else:
            sender = HttpSpanExporter(endpoint=f"{sink.http_endpoint}/v1/traces")
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(sender))
        with provider.get_tracer("shop").start_as_current_span("work", attributes={"n": 1}):
            pass
        await sink.wait_for(lambda sink: sink.span("work"))
        provider.shutdown()
    (span,) = sink.spans
    assert (span.attributes, span.scope.name) == ({"n": 1}, "shop")
    assert sink.requests[0].transport == exporter


async def test_metrics_are_flat_points():
    """Counters and histograms become points; the newest of a label set is found by name."""
    async with Sink() as sink:
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=sink.endpoint, insecure=True), 3_600_000)
        provider = MeterProvider([reader], shutdown_on_exit=False)
        meter = provider.get_meter("shop")
        meter.create_counter("calls", unit="{call}").add(2, {"gen_ai.agent.name": "a"})
        meter.create_histogram("score", explicit_bucket_boundaries_advisory=[0.5]).record(0.25)
        provider.force_flush()
        await sink.wait_for(lambda sink: sink.latest("score"))
        provider.shutdown()
    calls = sink.latest("calls", gen_ai__agent__name="a")
    assert (calls.value, calls.kind, calls.unit, calls.cumulative) == (2, "counter", "{call}", True)
    score = sink.latest("score")
    assert (score.count, score.value, score.buckets, score.bounds) == (1, 0.25, (1, 0), (0.5,))
    assert sink.latest("calls", gen_ai__agent__name="b") is None


def test_it_can_refuse_reject_and_take_again():
    """UNAVAILABLE takes nothing; partial success takes all and says otherwise."""
    body = otlp_request([agent_span()])
    with Sink() as sink:
        sink.refuse(Refusing(grpc.StatusCode.RESOURCE_EXHAUSTED))
        with pytest.raises(grpc.RpcError) as refused:
            export(sink, body)
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (sink.refused, sink.spans) == (1, [])
        sink.reject(3, "too old")
        partial = export(sink, body).partial_success
        assert (partial.rejected_spans, partial.error_message) == (3, "too old")
        sink.accept()
        assert not export(sink, body).HasField("partial_success")
    assert len(sink.spans) == 2
    assert Partial(1) == Partial(1, "rejected by the test")


def test_it_can_be_down_and_come_back():
    """A stopped sink refuses connections; started again it has the same port and what it had."""
    body = otlp_request([agent_span()])
    with Sink() as sink:
        export(sink, body)
        before = sink.endpoint
        sink.stop()
        with pytest.raises(grpc.RpcError):
            export(sink, body)
        sink.start()
        export(sink, body)
        assert sink.endpoint == before
    assert len(sink.spans) == 2


async def test_waiting_in_vain_says_what_arrived():
    """The timeout tells what came instead."""
    async with Sink() as sink:
        with pytest.raises(TimeoutError, match="0 spans, 0 log records"):
            await sink.wait_for(lambda sink: sink.spans, timeout=0.01)
