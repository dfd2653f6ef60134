"""A client of the API, for the command line, for tests, and for scripts in Python.

::

    async with ApiClient("localhost:4319", token=os.environ["OTEL_EVAL_API_TOKEN"]) as api:
        answer = await api.get_interaction(pb.GetInteractionRequest(interaction_id=...))
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message

from otel_eval.v1 import evaluations_pb2 as pb

M = TypeVar("M", bound=Message)

_SERVICE = "/otel_eval.v1.EvaluationService"
TIMEOUT_S = 60.0
"""How long one call may take, beside following the ledger."""
Metadata: TypeAlias = tuple[tuple[str, str], ...]


class ApiCallError(Exception):
    """A call that failed. ``code`` is gRPC's name for why (``NOT_FOUND``); the message can be shown as it is."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def passes(self) -> bool:
        """Whether nobody answered, which may be another thing in a moment."""
        return self.code == "UNAVAILABLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """TLS of a connection: whom to trust (the usual authorities without ``ca_file``), and a certificate of one's own
    (mTLS)."""

    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """As gRPC takes them. Raises OSError for a file that cannot be read."""
        ca, key, certificate = (
            None if file is None else file.read_bytes() for file in (self.ca_file, self.key_file, self.cert_file)
        )
        return grpc.ssl_channel_credentials(ca, key, certificate)


class ApiClient:
    """The calls of ``otel_eval.v1.EvaluationService`` at ``host:port``, in plain text without ``tls``.

    An async context manager. Every call raises ApiCallError. ``token`` is shown with each of them; one that no header can
    hold raises it at once.
    """

    def __init__(self, address: str, *, token: str | None = None, tls: Tls | None = None) -> None:
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ApiCallError("UNAUTHENTICATED", "the token has characters that no header can hold")
        options = [("grpc.max_receive_message_length", -1)]  # one Interaction may be larger than the usual limit
        self._channel = (
            grpc.aio.insecure_channel(address, options)
            if tls is None
            else grpc.aio.secure_channel(address, tls.credentials(), options)
        )
        self._metadata: Metadata = () if token is None else (("authorization", f"Bearer {token}"),)

    async def __aenter__(self) -> ApiClient:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._channel.close()

    async def get_interaction(self, request: pb.GetInteractionRequest) -> pb.GetInteractionResponse:
        """One Interaction."""
        return await self._answer("GetInteraction", request, pb.GetInteractionResponse)

    async def list_interactions(self, request: pb.ListInteractionsRequest) -> pb.ListInteractionsResponse:
        """A page of Interactions."""
        return await self._answer("ListInteractions", request, pb.ListInteractionsResponse)

    async def get_evaluations(self, request: pb.GetEvaluationsRequest) -> pb.GetEvaluationsResponse:
        """Evaluations by id."""
        return await self._answer("GetEvaluations", request, pb.GetEvaluationsResponse)

    async def list_evaluations(self, request: pb.ListEvaluationsRequest) -> pb.ListEvaluationsResponse:
        """A page of evaluations."""
        return await self._answer("ListEvaluations", request, pb.ListEvaluationsResponse)

    async def start_evaluation(self, request: pb.StartEvaluationRequest) -> pb.StartEvaluationResponse:
        """Have stored Interactions judged again."""
        return await self._answer("StartEvaluation", request, pb.StartEvaluationResponse)

    async def watch_evaluations(
        self, request: pb.WatchEvaluationsRequest
    ) -> AsyncIterator[pb.WatchEvaluationsResponse]:
        """Evaluations as they are stored; does not end but by an ApiCallError."""
        call = self._channel.unary_stream(
            f"{_SERVICE}/WatchEvaluations",
            request_serializer=_packed,
            response_deserializer=pb.WatchEvaluationsResponse.FromString,
        )(request, metadata=self._metadata)
        try:
            async for message in call:
                yield message
        except grpc.aio.AioRpcError as error:
            raise _told(error) from None
        finally:
            call.cancel()
        raise ApiCallError("UNAVAILABLE", "the server ended the call")

    async def _answer(self, name: str, request: Message, kind: type[M]) -> M:
        call = self._channel.unary_unary(
            f"{_SERVICE}/{name}", request_serializer=_packed, response_deserializer=kind.FromString
        )
        try:
            return await call(request, metadata=self._metadata, timeout=TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            raise _told(error) from None


def _packed(message: Any) -> bytes:
    return bytes(message.SerializeToString())


def _told(error: grpc.aio.AioRpcError) -> ApiCallError:
    return ApiCallError(error.code().name, error.details() or error.code().name)
