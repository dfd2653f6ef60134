"""What the judging process starts with: ``python -P spawned.py CONTROL JOURNAL PARENT``: two inherited socket descriptors
and the pid of the receiving process.

By its path rather than by its name, so that it belongs to this package wherever another of the name may be found; what is
imported then is searched where the receiving process searches. That comes as the first message.
"""

import contextlib
import os
import pickle
import signal
import socket
import struct
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Take the place of the receiving process' interpreter, as far as imports go; then run."""
    _end_with(parent=int(sys.argv[3]))
    control, journal = (socket.socket(fileno=int(descriptor)) for descriptor in sys.argv[1:3])
    for each in (control, journal):
        each.set_inheritable(False)
    head = control.recv(8, socket.MSG_WAITALL)
    searched = control.recv(struct.unpack("!Q", head)[0], socket.MSG_WAITALL) if head else b""
    if not searched:
        sys.exit(1)  # whoever started us is gone
    sys.path[:] = pickle.loads(searched)
    from otel_eval.server.lifeline import Lifeline  # only now it is known where from

    lifeline = Lifeline(control)
    from otel_eval.server.judging_process import run  # takes a second: whoever started us may end meanwhile

    sys.exit(run(lifeline, journal))


def _end_with(parent: int) -> None:
    """Have the kernel kill this process as soon as that one is gone. Linux; elsewhere the lifeline's thread sees to it.

    The thread needs the interpreter's lock, which an evaluator may hold for ever: one regular expression is enough. What the
    kernel watches is the *thread* that started us: asyncio starts processes in the thread of its event loop, which in
    ``serve`` is the main thread.
    """
    if sys.platform == "linux":
        with contextlib.suppress(ImportError, OSError, AttributeError):  # an interpreter, or a C library, without it
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)  # it was gone before the kernel was asked to watch it


if __name__ == "__main__":
    main()
