"""What keeps a server from starting. What stops a running one is :class:`~otel_eval.server.stages.StageDied`."""

from __future__ import annotations


class ServerError(Exception):
    """The server cannot start; the message can be shown as it is."""
