"""All listeners of one server, started and stopped together."""

from __future__ import annotations

from typing import TypeAlias

from otel_eval.receive.grpc_server import GrpcReceiver
from otel_eval.receive.http_server import HttpReceiver
from otel_eval.receive.intake import Intake
from otel_eval.receive.listener import Listener

Receiver: TypeAlias = GrpcReceiver | HttpReceiver


class Receivers:
    """The gRPC and the HTTP listener before one :class:`Intake`; None leaves one out."""

    def __init__(self, intake: Intake, *, grpc: Listener | None = None, http: Listener | None = None) -> None:
        self._receivers: dict[str, Receiver] = {}
        if grpc is not None:
            self._receivers["grpc"] = GrpcReceiver(intake, grpc)
        if http is not None:
            self._receivers["http"] = HttpReceiver(intake, http)

    @property
    def endpoints(self) -> dict[str, str]:
        """``host:port`` by transport, with the ports that were really bound. Raises RuntimeError before :meth:`start`."""
        return {transport: receiver.endpoint for transport, receiver in self._receivers.items()}

    async def start(self) -> None:
        """Start all, or none: raises :class:`~otel_eval.receive.listener.ReceiverError` where one cannot listen."""
        try:
            for receiver in self._receivers.values():
                await receiver.start()
        except BaseException:
            await self.stop(0)
            raise

    async def stop(self, grace_s: float = 5.0) -> None:
        """Take nothing new and finish what is in flight: whatever was acknowledged is in the journal."""
        for receiver in self._receivers.values():
            await receiver.stop(grace_s)
