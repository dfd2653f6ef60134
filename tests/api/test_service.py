"""The API of a real server, asked by a real client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from otel_eval.api import questions, service
from otel_eval.api.client import ApiCallError, ApiClient
from otel_eval.ledger import Batch, StoredInteraction
from otel_eval.testing.interactions import interaction
from otel_eval.testing.records import evaluation_record
from otel_eval.testing.server import RunningServer, running
from otel_eval.v1 import evaluations_pb2 as pb
from tests.api.kit import BOTH, EVALUATE, READ, config, judged, serving, start


async def refused(call: Awaitable[Any]) -> ApiCallError:
    with pytest.raises(ApiCallError) as caught:
        await call
    return caught.value


async def filled(server: RunningServer, count: int, first: int = 1, **fields: Any) -> list[str]:
    """So many Interactions in the ledger, each with a record, a second from one to the next; their ids, latest end first."""
    numbers = range(first, first + count)
    ones = [interaction(started_ns=n * 1_000_000_000, agent=f"agent-{n % 2}", **fields) for n in numbers]
    await server.server.ledger.commit(
        Batch(
            interactions=tuple(StoredInteraction(interaction=one, revision=1, digest="d") for one in ones),
            records=tuple(evaluation_record(one) for one in ones),
        )
    )
    return [one.id for one in reversed(ones)]


async def test_what_was_judged_can_be_read() -> None:
    """The Interaction by its id, and what its evaluators said, by filter and by id."""
    async with serving() as (server, api):
        name = await judged(server, asked="Where is it?")
        got = await api.get_interaction(pb.GetInteractionRequest(interaction_id=name))
        assert (got.interaction.asked, got.revision) == ("Where is it?", 1)
        listed = await api.list_evaluations(
            pb.ListEvaluationsRequest(filter=pb.EvaluationFilter(interaction_id=name, evaluator="says-no"))
        )
        (failed,) = listed.evaluations
        assert (failed.WhichOneof("outcome"), failed.origin) == ("failed", pb.ORIGIN_LIVE)
        by_id = await api.get_evaluations(pb.GetEvaluationsRequest(evaluation_ids=[failed.id, "nobody's"]))
        assert (list(by_id.evaluations), list(by_id.unknown_ids)) == ([failed], ["nobody's"])


async def test_pages_follow_one_another_while_more_is_stored() -> None:
    """Each once, in order, whatever comes meanwhile; filters hold from page to page."""
    async with serving() as (server, api):
        ids = await filled(server, 7)
        seen: list[str] = []
        request = pb.ListInteractionsRequest(page_size=3)
        while request.page_token or not seen:
            page = await api.list_interactions(request)
            seen += [one.id for one in page.interactions]
            await filled(server, 1, first=100)
            request.page_token = page.next_page_token
        assert seen == ids
        records: list[str] = []
        of_agent = pb.ListEvaluationsRequest(
            filter=pb.EvaluationFilter(agent="agent-1"), until=Timestamp(seconds=50), page_size=2
        )
        while of_agent.page_token or not records:
            answer = await api.list_evaluations(of_agent)
            records += [one.interaction_id for one in answer.evaluations]
            of_agent.page_token = answer.next_page_token
        assert records == ids[::2]


async def test_a_page_ends_before_it_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind one at least: what a client takes by default is not passed, but by one Interaction alone."""
    monkeypatch.setattr(service, "MOST_BYTES", 5_000)
    async with serving() as (server, api):
        ids = await filled(server, 3, reply="x" * 2_000)
        page = await api.list_interactions(pb.ListInteractionsRequest())
        assert [one.id for one in page.interactions] == ids[:2]
        rest = await api.list_interactions(pb.ListInteractionsRequest(page_token=page.next_page_token))
        assert [one.id for one in rest.interactions] == ids[2:]
        monkeypatch.setattr(service, "MOST_BYTES", 10)
        assert len((await api.list_interactions(pb.ListInteractionsRequest())).interactions) == 1


async def test_times_and_current_records_are_asked_for() -> None:
    """From since on and before until; of attempts, the one that counts."""
    async with serving() as (server, api):
        ids = await filled(server, 3)
        only = pb.InteractionFilter(since=Timestamp(seconds=3), until=Timestamp(seconds=4))
        found = await api.list_interactions(pb.ListInteractionsRequest(filter=only))
        assert [one.id for one in found.interactions] == ids[1:2]
        one = await server.server.ledger.interaction(ids[0])
        await server.server.ledger.finish([evaluation_record(one, attempt=1)])
        both = await api.list_evaluations(pb.ListEvaluationsRequest(filter=pb.EvaluationFilter(interaction_id=one.id)))
        assert {each.attempt for each in both.evaluations} == {0, 1}
        current = await api.list_evaluations(
            pb.ListEvaluationsRequest(
                filter=pb.EvaluationFilter(interaction_id=one.id), current_only=True, until=Timestamp(seconds=9)
            )
        )
        assert [each.attempt for each in current.evaluations] == [1]


T = Timestamp
WRONG: list[tuple[str, Any, str]] = [
    ("get_interaction", pb.GetInteractionRequest(interaction_id=" "), "interaction_id"),
    ("list_interactions", pb.ListInteractionsRequest(page_size=-1), "page_size"),
    ("list_interactions", pb.ListInteractionsRequest(page_token="hm?"), "page_token"),
    ("list_interactions", pb.ListInteractionsRequest(page_token="W10"), "page_token"),
    ("list_interactions", pb.ListInteractionsRequest(filter=pb.InteractionFilter(agent="")), "filter.agent"),
    (
        "list_interactions",
        pb.ListInteractionsRequest(filter=pb.InteractionFilter(since=T(seconds=2), until=T(seconds=2))),
        "filter.until",
    ),
    ("list_evaluations", pb.ListEvaluationsRequest(since=T(seconds=-1)), "since"),
    ("list_evaluations", pb.ListEvaluationsRequest(until=T(nanos=-1)), "until"),
    ("list_evaluations", pb.ListEvaluationsRequest(filter=pb.EvaluationFilter(origin=99)), "filter.origin"),
    ("get_evaluations", pb.GetEvaluationsRequest(), "evaluation_ids"),
    ("get_evaluations", pb.GetEvaluationsRequest(evaluation_ids=["a", ""]), "evaluation_ids[1]"),
    ("start_evaluation", pb.StartEvaluationRequest(interaction_ids=["a"]), "evaluators"),
    ("start_evaluation", pb.StartEvaluationRequest(interaction_ids=["a"], evaluators=["x"]), "evaluators[0]"),
    ("start_evaluation", pb.StartEvaluationRequest(evaluators=["no-failure"]), "interaction_ids"),
    (
        "start_evaluation",
        pb.StartEvaluationRequest(evaluators=["no-failure"], filter=pb.InteractionFilter()),
        "filter",
    ),
    (
        "start_evaluation",
        pb.StartEvaluationRequest(
            evaluators=["no-failure"], interaction_ids=["a"], filter=pb.InteractionFilter(agent="a")
        ),
        "interaction_ids",
    ),
    (
        "start_evaluation",
        pb.StartEvaluationRequest(
            evaluators=["no-failure"], filter=pb.InteractionFilter(agent="a"), max_interactions=-1
        ),
        "max_interactions",
    ),
]


async def test_what_is_wrong_is_told_by_its_field() -> None:
    """INVALID_ARGUMENT, in words and as google.rpc.BadRequest; nothing is queued."""
    async with serving() as (server, api):
        for call, request, field in WRONG:
            error = await refused(getattr(api, call)(request))
            assert (error.code, str(error).partition(":")[0]) == ("INVALID_ARGUMENT", field), request
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await api._channel.unary_unary("/otel_eval.v1.EvaluationService/ListInteractions")(
                pb.ListInteractionsRequest(page_size=-1).SerializeToString(), metadata=api._metadata
            )
        details = dict(caught.value.trailing_metadata() or ())["grpc-status-details-bin"]
        told = BadRequest()
        assert Status.FromString(details).details[0].Unpack(told)
        assert told.field_violations[0].field == "page_size"
        assert (await server.server.ledger.backlog()).count == 0


async def test_a_page_token_is_of_its_question() -> None:
    """Another filter with it is a mistake; another size is not."""
    async with serving() as (server, api):
        await filled(server, 3)
        first = await api.list_interactions(pb.ListInteractionsRequest(page_size=1))
        request = pb.ListInteractionsRequest(page_size=2, page_token=first.next_page_token)
        assert len((await api.list_interactions(request)).interactions) == 2
        request.filter.agent = "agent-0"
        assert (await refused(api.list_interactions(request))).code == "INVALID_ARGUMENT"
        of_another = pb.ListEvaluationsRequest(page_token=first.next_page_token)
        assert (await refused(api.list_evaluations(of_another))).code == "INVALID_ARGUMENT"


async def test_a_fault_of_ours_is_told_without_its_words(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """They may quote what a user said; who runs the server finds them in its log."""
    async with serving() as (server, api):

        def breaks(*given: object, **wanted: object) -> None:
            raise ValueError("she said so")

        for name in ("stored_interaction", "place"):
            monkeypatch.setattr(server.server.ledger.ledger, name, breaks)
        for call in (
            api.get_interaction(pb.GetInteractionRequest(interaction_id="x")),
            anext(api.watch_evaluations(pb.WatchEvaluationsRequest())),
        ):
            error = await refused(call)
            assert (error.code, str(error)) == ("INTERNAL", "a fault of the server; its log says more")
    assert caplog.text.count("ValueError: she said so") == 2


async def test_what_is_not_there_is_not_found() -> None:
    """Of several Interactions that one is missing is enough: nothing is queued."""
    async with serving() as (server, api):
        name = await judged(server)
        assert (
            await refused(api.get_interaction(pb.GetInteractionRequest(interaction_id="x" * 999)))
        ).code == "NOT_FOUND"
        request = pb.StartEvaluationRequest(interaction_ids=[name, "gone"], evaluators=["no-failure"])
        error = await refused(api.start_evaluation(request))
        assert (error.code, str(error)) == ("NOT_FOUND", "the ledger has no Interaction gone")
        assert (await server.server.ledger.backlog()).count == 0


async def test_too_much_at_once_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too large a request, a filter that matches more than is allowed, too many evaluations, too many calls."""
    monkeypatch.setattr(questions, "MOST_EVALUATIONS", 3)
    settings = config()
    settings["api"] |= {"max_message_bytes": 1024, "max_concurrent_calls": 2}
    async with serving(settings) as (server, api):
        ids = await filled(server, 2)
        both = ["no-failure", "says-no"]
        many = pb.GetEvaluationsRequest(evaluation_ids=["x" * 2000])
        of_filter = pb.StartEvaluationRequest(
            filter=pb.InteractionFilter(since=T(seconds=1)), evaluators=both, max_interactions=2
        )
        by_id = pb.StartEvaluationRequest(interaction_ids=ids, evaluators=both)
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: api.get_evaluations(many),
            lambda: api.start_evaluation(of_filter),
            lambda: api.start_evaluation(by_id),
        ]
        for call in calls:
            assert (await refused(call())).code == "RESOURCE_EXHAUSTED"
        assert (await server.server.ledger.backlog()).count == 0
        following = api.watch_evaluations(pb.WatchEvaluationsRequest())
        await anext(following)
        another = api.watch_evaluations(pb.WatchEvaluationsRequest())
        assert (await refused(anext(another))).code == "RESOURCE_EXHAUSTED"
        await api.list_interactions(pb.ListInteractionsRequest())
        await following.aclose()  # type: ignore[attr-defined]


async def test_scopes_are_kept_apart() -> None:
    """Reading does not start, starting does not read, and neither goes without a token; health and reflection do."""
    async with serving() as (server, _):
        name = await judged(server)
        reading = pb.GetInteractionRequest(interaction_id=name)
        expected = {
            READ: ("", "PERMISSION_DENIED"),
            EVALUATE: ("PERMISSION_DENIED", ""),
            BOTH: ("", ""),
            "somebody's": ("UNAUTHENTICATED", "UNAUTHENTICATED"),
            None: ("UNAUTHENTICATED", "UNAUTHENTICATED"),
        }
        for token, codes in expected.items():
            async with ApiClient(server.api_endpoint, token=token) as api:
                watching = api.watch_evaluations(pb.WatchEvaluationsRequest())
                calls = (
                    (api.get_interaction(reading), codes[0]),
                    (api.list_interactions(pb.ListInteractionsRequest()), codes[0]),
                    (api.list_evaluations(pb.ListEvaluationsRequest()), codes[0]),
                    (api.get_evaluations(pb.GetEvaluationsRequest(evaluation_ids=["x"])), codes[0]),
                    (anext(watching), codes[0]),
                    (start(api, name), codes[1]),
                )
                for call, code in calls:
                    if code:
                        error = await refused(call)
                        assert (error.code, token in str(error) if token else False) == (code, False)
                    else:
                        await call
                await watching.aclose()  # type: ignore[attr-defined]
        async with grpc.aio.insecure_channel(server.api_endpoint) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            request = health_pb2.HealthCheckRequest(service="otel_eval.v1.EvaluationService")
            assert (await health.Check(request)).status == health_pb2.HealthCheckResponse.SERVING
            reflection = reflection_pb2_grpc.ServerReflectionStub(channel)
            asked = reflection_pb2.ServerReflectionRequest(file_containing_symbol="otel_eval.v1.EvaluationService")
            async for answer in reflection.ServerReflectionInfo(iter([asked])):
                assert answer.file_descriptor_response.file_descriptor_proto


async def test_who_may_send_may_not_read() -> None:
    """The API is not on the receivers' listener, and their token opens nothing here."""
    ingest = "ingest-0123456789abcdef"
    settings = config(receivers={"otlp": {"grpc": {"auth": {"bearer_token": ingest}}}})
    async with serving(settings) as (server, _):
        assert server.server.grpc is not None
        request = pb.ListInteractionsRequest()
        async with ApiClient(server.server.grpc, token=ingest) as api:
            assert (await refused(api.list_interactions(request))).code == "UNIMPLEMENTED"
        async with ApiClient(server.api_endpoint, token=ingest) as api:
            assert (await refused(api.list_interactions(request))).code == "UNAUTHENTICATED"


async def test_it_is_off_by_default() -> None:
    """And then there is no listener."""
    settings = config()
    del settings["api"]["enabled"]
    async with running(settings) as server:
        assert server.server.api is None


async def test_a_caller_that_goes_away_costs_nothing() -> None:
    """A deadline ends the call for the caller, and the only place that there is is free for another."""
    settings = config()
    settings["api"]["max_concurrent_calls"] = 2
    async with serving(settings) as (_, api), asyncio.timeout(30):
        watching = api._channel.unary_stream("/otel_eval.v1.EvaluationService/WatchEvaluations")
        call = watching(b"", metadata=api._metadata, timeout=0.3)
        assert await call.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        while (again := await _first(api)) == "RESOURCE_EXHAUSTED":
            pass  # until the server has heard of the deadline, which is a timer of its own
        assert again == ""


async def _first(api: ApiClient) -> str:
    """How a call that follows the ledger begins: the code that it fails with, or none."""
    following = api.watch_evaluations(pb.WatchEvaluationsRequest())
    try:
        await anext(following)
    except ApiCallError as error:
        return error.code
    await following.aclose()  # type: ignore[attr-defined]
    return ""
