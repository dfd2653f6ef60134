"""A real server with its API on, and what is asked of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc

from otel_eval.api.client import ApiClient
from otel_eval.judges import CompletionFunction
from otel_eval.testing.otlp import otlp_request
from otel_eval.testing.server import RunningServer, running
from otel_eval.testing.spans import conversation
from otel_eval.v1 import evaluations_pb2 as pb

READ, EVALUATE, BOTH = "read-0123456789abcdef", "evaluate-0123456789ab", "both-0123456789abcdef"
TOKENS = {
    "reader": {"token": READ, "scopes": ["read"]},
    "starter": {"token": EVALUATE, "scopes": "evaluate"},
    "operator": {"token": BOTH, "scopes": ["read", "evaluate"]},
}
EVALUATORS = {
    "no-failure": {"check": "should_not_fail", "agents": ["*"]},
    "says-no": {"check": {"reply_should_contain": "no such words"}, "agents": ["*"]},
}
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
TIMEOUT = 30


def config(**sections: Any) -> dict[str, Any]:
    """The API with three tokens, two evaluators, and what else is given."""
    return {"api": {"enabled": True, "auth": {"tokens": TOKENS}}, "evaluators": EVALUATORS, **sections}


@contextlib.asynccontextmanager
async def serving(
    settings: Mapping[str, Any] | None = None, *, complete: CompletionFunction | None = None
) -> AsyncIterator[tuple[RunningServer, ApiClient]]:
    """The server, and a client that may do everything."""
    settings = config() if settings is None else settings
    async with running(settings, complete=complete) as server, operator(server) as api:
        yield server, api


def operator(server: RunningServer) -> ApiClient:
    return ApiClient(server.api_endpoint, token=BOTH)


async def send(address: str, **spans: Any) -> str:
    """One Interaction, over OTLP; its id."""
    sent = conversation(**spans)
    async with grpc.aio.insecure_channel(address) as channel:
        await channel.unary_unary(EXPORT)(otlp_request(sent))
    return f"{sent[0].trace_id}-{sent[0].span_id}"


async def judged(server: RunningServer, **spans: Any) -> str:
    """The same, once every evaluator has judged it."""
    assert server.server.grpc is not None
    interaction = await send(server.server.grpc, **spans)
    await server.wait_for_evaluations(interaction)
    return interaction


async def start(api: ApiClient, interaction: str, *evaluators: str) -> pb.StartEvaluationResponse:
    return await api.start_evaluation(
        pb.StartEvaluationRequest(interaction_ids=[interaction], evaluators=evaluators or ["no-failure"])
    )


async def watched(stream: AsyncIterator[pb.WatchEvaluationsResponse], count: int) -> list[pb.WatchEvaluationsResponse]:
    """The next messages that have a record."""
    found = []
    async with asyncio.timeout(TIMEOUT):
        while len(found) < count:
            message = await anext(stream)
            if message.HasField("evaluation"):
                found.append(message)
    return found
