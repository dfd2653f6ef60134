"""A model provider on loopback that answers from a script: the whole path of a judge's call runs, and nobody is asked.

It speaks OpenAI's chat completions, streamed or not, as litellm and the openai client call them::

    with ScriptedModel([verdict(0.9), Refusal(429, retry_after=1), verdict(0.2)]) as model:
        judge = ModelJudge(model="openai/scripted", api_base=model.base_url, api_key="none")

A script is one *step* for every request, a function from the request to a step, or a list of steps, one for each request
(a request past its end is answered 500, and is a mistake of the test).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from otel_eval.testing.arrivals import Arrivals
from otel_eval.testing.loopback import HttpRequest, HttpResponse, LoopbackServer, Startable
from otel_eval.testing.models import as_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model says. Tokens that are None are counted as one for every four characters.

    ``finish_reason="length"`` is an answer cut by the token limit. ``delay`` is in seconds, before the first byte.
    """

    text: str = ""
    finish_reason: str = "stop"
    input_tokens: int | None = None
    output_tokens: int | None = None
    delay: float = 0.0
    model: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP error, with Retry-After where ``retry_after`` (seconds) is given. Nothing is billed."""

    status: int = 429
    retry_after: float | None = None
    message: str = "refused by the script"
    code: str | None = None
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the client gives up (or the server stops); ``request.abandoned`` is then set."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """Status 200 with a body that is no completion."""

    body: str = "<html>gateway</html>"
    content_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection is closed without an answer."""


Step: TypeAlias = "str | float | Mapping[str, Any] | Answer | Refusal | Hang | Garbage | Drop"
Script: TypeAlias = "Step | Callable[[ModelRequest], Step] | Sequence[Step]"


@dataclass(slots=True, kw_only=True)
class ModelRequest:
    """One request as it arrived; ``abandoned`` becomes True where the client went away before its answer."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    abandoned: bool = False

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))

    @property
    def system(self) -> str:
        """The system messages, joined by blank lines."""
        return "\n\n".join(self._texts("system", "developer"))

    @property
    def user(self) -> str:
        """The last user message."""
        return (self._texts("user") or [""])[-1]

    @property
    def response_format(self) -> str | None:
        """``json_schema``, ``json_object`` or None."""
        kind = (self.body.get("response_format") or {}).get("type")
        return None if kind in (None, "text") else str(kind)

    def _texts(self, *roles: str) -> list[str]:
        messages = [message for message in self.body.get("messages", ()) if message.get("role") in roles]
        return [_text(message.get("content")) for message in messages]


@dataclass(frozen=True, slots=True)
class Bill:
    """What a provider would have charged for: only answers that were given."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(slots=True)
class _State:
    billed: Bill = field(default_factory=Bill)
    in_flight: int = 0
    most_in_flight: int = 0
    taken: int = 0


class ScriptedModel(Startable):
    """The server. A context manager, sync and async; ``base_url`` ends in ``/v1``.

    ``unsupported`` are the response formats (``json_schema``, ``json_object``) that it refuses with 400.
    """

    def __init__(self, script: Script = 1.0, *, delay: float = 0.0, unsupported: Sequence[str] = ()) -> None:
        self._server = LoopbackServer(self._respond)
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._state = _State()
        self._arrivals = Arrivals()
        self._delay = delay
        self._unsupported = frozenset(unsupported)
        self.script: Script = script
        self.requests: list[ModelRequest] = []

    @property
    def base_url(self) -> str:
        """What clients take as ``base_url`` or ``api_base``."""
        return f"http://127.0.0.1:{self._server.port}/v1"

    @property
    def billed(self) -> Bill:
        """Answers given so far."""
        return self._state.billed

    @property
    def in_flight(self) -> int:
        """Requests that wait for their answer now."""
        return self._state.in_flight

    @property
    def most_in_flight(self) -> int:
        """The most requests that ever waited at the same time."""
        return self._state.most_in_flight

    def answer(self, script: Script) -> None:
        """Go on with another script, from its beginning."""
        with self._lock:
            self.script = script
            self._state.taken = 0

    async def wait_for_requests(self, count: int = 1, timeout: float = 10.0) -> None:  # noqa: ASYNC109 - as in Arrivals
        """Return once ``count`` requests arrived in all. Raises TimeoutError, saying how many did."""
        await self._arrivals.wait_for(
            lambda: len(self.requests) >= count, timeout, lambda: f"{len(self.requests)} of {count} requests arrived"
        )

    def start(self) -> None:
        """Listen; the same port again after :meth:`stop`."""
        self._server.start()

    def stop(self) -> None:
        """Be down: connections are refused until :meth:`start`."""
        self._server.stop()

    def _respond(self, http: HttpRequest) -> HttpResponse:
        if not http.path.split("?")[0].endswith("/chat/completions"):
            return _error(404, f"no such path: {http.path}")
        request = ModelRequest(path=http.path, headers=http.headers, body=json.loads(http.body))
        with self._counted(request):
            step = self._next_step(request)
            delay = self._delay + getattr(step, "delay", 0.0)
            if isinstance(step, Hang) or delay > 0:
                request.abandoned = http.wait(None if isinstance(step, Hang) else delay)
                self._arrivals.notify()
            if isinstance(step, Drop | Hang) or request.abandoned:
                return HttpResponse(status=0)
            return self._play(step, request)

    @contextlib.contextmanager
    def _counted(self, request: ModelRequest) -> Iterator[None]:
        with self._lock:
            self.requests.append(request)
            self._state.in_flight += 1
            self._state.most_in_flight = max(self._state.most_in_flight, self._state.in_flight)
        self._arrivals.notify()
        try:
            yield
        finally:
            with self._lock:
                self._state.in_flight -= 1

    def _next_step(self, request: ModelRequest) -> Answer | Refusal | Hang | Garbage | Drop:
        if request.response_format in self._unsupported:
            return Refusal(
                400, message=f"response_format {request.response_format} is not supported", code="invalid_value"
            )
        with self._lock:
            script = self.script
            index = self._state.taken
            self._state.taken += 1
        if callable(script):
            return _step(script(request))
        if isinstance(script, Sequence) and not isinstance(script, str):
            if index >= len(script):
                return Refusal(500, message=f"the script has {len(script)} steps, this is request {index + 1}")
            return _step(script[index])
        return _step(script)

    def _play(self, step: Answer | Refusal | Garbage, request: ModelRequest) -> HttpResponse:
        if isinstance(step, Refusal):
            return _error(step.status, step.message, step.code, step.retry_after)
        if isinstance(step, Garbage):
            return HttpResponse(headers={"content-type": step.content_type}, body=step.body.encode())
        answer = _counted_tokens(step, request)
        with self._lock:
            bill = self._state.billed
            self._state.billed = Bill(
                bill.calls + 1,
                bill.input_tokens + (answer.input_tokens or 0),
                bill.output_tokens + (answer.output_tokens or 0),
            )
        return _completion(answer, request, f"chatcmpl-{next(self._ids)}")


def _step(step: Step) -> Answer | Refusal | Hang | Garbage | Drop:
    if isinstance(step, Answer | Refusal | Hang | Garbage | Drop):
        return step
    return Answer(text=as_text(step))


def _counted_tokens(answer: Answer, request: ModelRequest) -> Answer:
    sent = sum(len(_text(message.get("content"))) for message in request.body.get("messages", ()))
    return replace(
        answer,
        input_tokens=-(-sent // 4) if answer.input_tokens is None else answer.input_tokens,
        output_tokens=-(-len(answer.text) // 4) if answer.output_tokens is None else answer.output_tokens,
    )


def _completion(answer: Answer, request: ModelRequest, completion_id: str) -> HttpResponse:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.tool_calls:
        message["tool_calls"] = list(answer.tool_calls)
    head = {"id": completion_id, "created": int(time.time()), "model": answer.model or request.model}
    sent, given = answer.input_tokens or 0, answer.output_tokens or 0
    usage = {"prompt_tokens": sent, "completion_tokens": given, "total_tokens": sent + given}
    if request.body.get("stream"):
        with_usage = bool((request.body.get("stream_options") or {}).get("include_usage"))
        chunks = _chunks(head, message, answer.finish_reason, usage if with_usage else None)
        return HttpResponse(headers={"content-type": "text/event-stream"}, body=chunks)
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason, "logprobs": None}
    return _json(200, {**head, "object": "chat.completion", "choices": [choice], "usage": usage})


def _chunks(
    head: Mapping[str, Any], message: Mapping[str, Any], finish_reason: str, usage: Mapping[str, int] | None
) -> Iterator[bytes]:
    text = str(message["content"])
    middle = len(text) // 2
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": text[:middle]}, {"content": text[middle:]}]
    if calls := message.get("tool_calls"):
        deltas.append({"tool_calls": [{"index": index, **call} for index, call in enumerate(calls)]})
    for delta in deltas:
        yield _event(
            {
                **head,
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
            }
        )
    last = {"index": 0, "delta": {}, "finish_reason": finish_reason}
    yield _event({**head, "object": "chat.completion.chunk", "choices": [last]})
    if usage is not None:
        yield _event({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _event(data: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _error(status: int, message: str, code: str | None = None, retry_after: float | None = None) -> HttpResponse:
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    kind = "rate_limit_error" if status == 429 else "invalid_request_error" if status < 500 else "server_error"
    return _json(status, {"error": {"message": message, "type": kind, "param": None, "code": code}}, headers)


def _json(status: int, data: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> HttpResponse:
    return HttpResponse(
        status=status, headers={"content-type": "application/json", **(headers or {})}, body=json.dumps(data).encode()
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
