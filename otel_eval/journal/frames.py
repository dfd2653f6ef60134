"""Values between two processes of ours over a socket pair: eight bytes that say how long, then the value, pickled.

Pickle, as :mod:`multiprocessing` does it: both ends are this program, and nobody else can reach the pair.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("!Q")
_BUFFER_BYTES = 1 << 20
"""What the kernel and the reader hold before the other side has to wait."""


def pack(value: Any) -> bytes:
    """The value as it goes over the wire."""
    content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(content)) + content


def receive(connection: socket.socket) -> bytes | None:
    """The next value, still pickled; blocks for it. None at the end of the stream."""
    head = _exactly(connection, _LENGTH.size)
    return None if head is None else _exactly(connection, _LENGTH.unpack(head)[0])


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray()
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            return None
        received += part
    return bytes(received)


class Frames:
    """One end of the pair, on an event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Use :meth:`over`."""
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, connection: socket.socket) -> Frames:
        """Takes the socket over, and closes it in the end."""
        return cls(*await asyncio.open_unix_connection(sock=connection, limit=_BUFFER_BYTES))

    def send(self, value: Any) -> None:
        """Hand it in; it goes out in order. Nobody reads it where the other end is gone: that is not an error here."""
        if not self._writer.is_closing():
            self._writer.write(pack(value))

    async def drain(self) -> None:
        """Return once there is room for more; at once where the other end is gone."""
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def receive(self) -> Any:
        """The next value. Raises :class:`EOFError` where the other end is gone."""
        try:
            (size,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            return pickle.loads(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise EOFError from error

    async def close(self) -> None:
        """What was handed in goes out, unless the other end is gone."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets with room for what comes in a burst."""
    ours, theirs = socket.socketpair()
    for each in (ours, theirs):
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            with contextlib.suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
    return ours, theirs
