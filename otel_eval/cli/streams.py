"""Standard streams that are closed, or go away while a command runs: whether anybody reads along decides neither whether a
server runs nor the status that a command ends with."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import IO

STANDARD = range(3)


def outlive_streams() -> None:
    """Let this process go on without its standard streams, and end with the status that it means.

    What is closed (``>&-``) becomes /dev/null, so that no file and no socket gets its number: what libraries print would
    go there. At the end what a stream still holds is dropped where it takes nothing any more; the interpreter would end
    with status 120.
    """
    for number in STANDARD:
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free: this one
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    atexit.register(_let_go)


class Outlet(io.TextIOWrapper):
    """A standard stream whose reader may go away (``| head -1``), which it does not mind.

    What it cannot encode it writes out (``\\u2026``). Where it takes nothing for another reason (a full disk) standard output
    raises OSError, and standard error does not: there is nobody left to tell.
    """

    gone = False
    """Whether nobody reads any more."""
    failure: OSError | None = None
    """Why not all of it was written, though somebody reads."""
    _before: io.TextIOWrapper

    @classmethod
    def over(cls, stream: io.TextIOWrapper) -> Outlet:
        """In place of that one. Both are over the same bytes, so that that one is not to be used any more."""
        stream.flush()
        outlet = cls(
            stream.buffer,
            encoding=stream.encoding,
            errors="backslashreplace" if stream.errors == "strict" else stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        outlet._before = stream  # which would close the bytes when it goes
        return outlet

    def write(self, text: str) -> int:
        with self._minding():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        if not self.closed:
            with self._minding():
                super().flush()

    @contextlib.contextmanager
    def _minding(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            silence(self)
            if isinstance(error, BrokenPipeError) or self is sys.stderr:
                self.gone = True
            else:
                self.failure = error
                raise


def outlets() -> None:
    """Let this process's standard streams be such."""
    outlive_streams()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and not isinstance(stream, Outlet):
            setattr(sys, name, Outlet.over(stream))


def say(line: str, stream: IO[str]) -> None:
    """Print it at once; nowhere, where the stream is gone."""
    try:
        print(line, file=stream, flush=True)
    except (OSError, ValueError):
        silence(stream)


def silence(stream: IO[str]) -> None:
    """Whatever is printed to it from now on goes nowhere, and so does what it still holds; it is no failure either."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
    if isinstance(stream, Outlet):
        stream.failure = None


def _let_go() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            silence(stream)
