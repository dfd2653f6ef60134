"""What the judging process starts with: ``python -P spawned.py CONTROL JOURNAL``, two inherited socket descriptors.

By its path rather than by its name, so that it belongs to this package wherever another of the name may be found; what is
imported then is searched where the receiving process searches. That comes as the first message.
"""

import pickle
import socket
import struct
import sys


def main() -> None:
    """Take the place of the receiving process' interpreter, as far as imports go; then run."""
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


if __name__ == "__main__":
    main()
