"""Standard streams that are closed, or go away while a server runs: whether anybody reads along does not decide whether it runs."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
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


def say(line: str, stream: IO[str]) -> None:
    """Print it at once; nowhere, where the stream is gone."""
    try:
        print(line, file=stream, flush=True)
    except (OSError, ValueError):
        silence(stream)


def silence(stream: IO[str]) -> None:
    """Whatever is printed to it from now on goes nowhere, and so does what it still holds."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)


def _let_go() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            silence(stream)
