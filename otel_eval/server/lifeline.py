"""The judging process' end of the control socket: what the receiving process says, and that it is there.

A thread waits for both, whatever the rest of the process is busy with. When the receiving process is gone the kernel closes
its end, and this process ends at once: it has nothing that is not in journal or ledger, and nobody to release entries to.
The thread needs the interpreter's lock for that. Where code of users does not let go of it, the kernel ends this process, on
Linux (``spawned.py``).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import queue
import socket
import threading
from collections.abc import Callable
from typing import Any

from otel_eval.journal.frames import pack, receive

ORPHANED = 1
"""The exit status of an orphan: nobody is there to see it."""


class Lifeline:
    """Made in the main thread, before anything that takes time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._take: Callable[[bytes], object] = self._waiting.put
        self._switching = threading.Lock()
        threading.Thread(target=self._run, name="otel-eval-lifeline", daemon=True).start()

    def next(self) -> Any:
        """The next message; blocks for it."""
        return pickle.loads(self._waiting.get())

    def attend(self, take: Callable[[Any], None]) -> None:
        """From now on ``take`` gets every message, on the running event loop."""
        loop = asyncio.get_running_loop()

        def hand_over(content: bytes) -> None:
            loop.call_soon_threadsafe(lambda: take(pickle.loads(content)))

        with self._switching:
            while not self._waiting.empty():
                hand_over(self._waiting.get())
            self._take = hand_over

    def send(self, message: Any) -> None:
        """Say it to the receiving process. There is little of it: it does not block."""
        with contextlib.suppress(OSError):  # it is gone, and so are we in a moment
            self._control.sendall(pack(message))

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while (content := receive(self._control)) is not None:
                with self._switching, contextlib.suppress(RuntimeError):  # the loop is closed: everything is done
                    self._take(content)
        os._exit(ORPHANED)
