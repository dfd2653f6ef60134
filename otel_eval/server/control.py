"""How a command asks the server that holds a storage directory: over the socket ``control.sock`` in it.

Whoever may enter the directory (0700) may ask. One question and one answer for a connection, each a line of JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from otel_eval.journal import JournalError
from otel_eval.ledger import LedgerError
from otel_eval.pipeline.forgetting import Forgotten, Wanted

SOCKET = "control.sock"
LONGEST_PATH = 100
"""Bytes: the system takes 104 to 108."""

Forget: TypeAlias = Callable[[Wanted], Awaitable[Forgotten]]


class ControlError(Exception):
    """The server cannot be asked, or could not do it; the message can be shown as it is."""


class NobodyListens(ControlError):
    """Not at the moment: the server starts, or stops, or its judging process died and is started again."""


@contextlib.asynccontextmanager
async def answering(directory: Path, forget: Forget) -> AsyncIterator[None]:
    """Answer those who ask, until the block ends; what is being done then is finished. Raises OSError."""
    with _address(directory) as address:
        server = await asyncio.start_unix_server(_Answer(forget), address)
        try:
            yield
        finally:
            server.close()
            await server.wait_closed()
            with contextlib.suppress(OSError):
                os.unlink(address)


async def ask(directory: Path, wanted: Wanted) -> Forgotten:
    """Have the server that holds the directory delete it, from its memory too. Raises ControlError.

    NobodyListens where it was not asked at all, so that it can be asked later.
    """
    try:
        with _address(directory) as address:
            reader, writer = await asyncio.open_unix_connection(address)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise NobodyListens(_silent(directory, error)) from error
    except OSError as error:
        raise ControlError(_silent(directory, error)) from error
    try:
        with contextlib.closing(writer):
            writer.write(json.dumps({"forget": dict(wanted.given())}).encode() + b"\n")
            await writer.drain()
            line = await reader.readline()
        answer = json.loads(line)
    except (OSError, ValueError) as error:
        raise ControlError(_silent(directory, error)) from error
    if "error" in answer:
        raise ControlError(str(answer["error"]))
    return Forgotten(**answer["forgotten"])


def _silent(directory: Path, error: Exception) -> str:
    return f"the server that holds {directory} does not answer: {error}"


class _Answer:
    def __init__(self, forget: Forget) -> None:
        self._forget = forget

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            answer = await self._answer(await reader.readline())
            writer.write(json.dumps(answer).encode() + b"\n")
            with contextlib.suppress(ConnectionError):  # whoever asked went away: it is done all the same
                await writer.drain()

    async def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            wanted = Wanted(**json.loads(line)["forget"])
        except (ValueError, TypeError, KeyError) as error:
            return {"error": f"not understood: {error}"}
        try:
            return {"forgotten": asdict(await self._forget(wanted))}
        except (LedgerError, JournalError) as error:
            return {"error": str(error)}


@contextlib.contextmanager
def _address(directory: Path) -> Iterator[str]:
    """The socket's path; one that is too long for a socket goes by way of an open descriptor (Linux)."""
    path = str(directory / SOCKET)
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield path
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)
