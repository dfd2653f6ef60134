"""A process of its own that takes telemetry into a journal until it is killed: ``intake_process.py DIRECTORY [LIMIT]``.

Prints its endpoints as one line of JSON when it is ready. ``LIMIT``: the largest message in bytes.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from otel_eval.clock import SystemClock
from otel_eval.journal import Journal
from otel_eval.receive.intake import Intake
from otel_eval.receive.listener import DEFAULT_MAX_MESSAGE_BYTES, Listener
from otel_eval.receive.receivers import Receivers


async def main(directory: str, limit: int = DEFAULT_MAX_MESSAGE_BYTES) -> None:
    listener = Listener(endpoint="127.0.0.1:0", max_message_bytes=limit)
    async with await Journal.open(Path(directory), clock=SystemClock()) as journal:
        receivers = Receivers(Intake(journal), grpc=listener, http=listener)
        await receivers.start()
        print(json.dumps(receivers.endpoints), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
