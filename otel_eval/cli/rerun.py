"""``otel-eval rerun``: have a running server judge stored Interactions again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO
from urllib.parse import urlsplit

import typer

from otel_eval.cli.evaluations import write
from otel_eval.cli.exits import FAILED, UNDECIDED, fail
from otel_eval.cli.formats import Format, FormatOption
from otel_eval.cli.shown import printable
from otel_eval.cli.stored import configuration, print_json, since_ns
from otel_eval.config import Config
from otel_eval.config.values import split_address
from otel_eval.durations import parse_duration
from otel_eval.record import EvaluationRecord
from otel_eval.wording import number_of

if TYPE_CHECKING:
    from otel_eval.api.client import ApiClient
    from otel_eval.v1 import evaluations_pb2 as pb

TOKEN = "OTEL_EVAL_API_TOKEN"
"""The environment variable that the token is read from, unless another is named."""
MOST = 10_000
"""Interactions: no server starts more evaluations at a time (``api.questions.MOST_EVALUATIONS``, which costs an import)."""


def rerun(
    evaluator: Annotated[
        list[str], typer.Option("--evaluator", help="The evaluator that judges; may be given again.", metavar="ID")
    ],
    interaction: Annotated[
        list[str] | None, typer.Option("--interaction", help="This Interaction; may be given again.", metavar="ID")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Those of this agent.")] = None,
    session: Annotated[str | None, typer.Option(help="Those of this session (conversation id).")] = None,
    since: Annotated[str | None, typer.Option(help="Those that ended within this time: 30m, 1h, 7d.")] = None,
    most: Annotated[
        int, typer.Option("--max", min=1, max=MOST, help="Nothing is queued where more Interactions match than this.")
    ] = 1000,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the verdicts, and print them.")] = False,
    timeout: Annotated[
        str, typer.Option(help="How long to wait for them; what has not ended then goes on without us.")
    ] = "10m",
    api: Annotated[
        str | None,
        typer.Option(help="The server's API: host:port, or https://host:port.  [default: as the configuration says]"),
    ] = None,
    token_env: Annotated[
        str, typer.Option("--token-env", help="The environment variable that holds the token.")
    ] = TOKEN,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", help="PEM file with the authorities to trust; means TLS.")
    ] = None,
    cert_file: Annotated[Path | None, typer.Option("--cert-file", help="PEM file with our certificate (mTLS).")] = None,
    key_file: Annotated[Path | None, typer.Option("--key-file", help="PEM file with its private key.")] = None,
    format: FormatOption = Format.TABLE,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="The configuration that says where the API is.  [default: ./otel-eval.yaml]"),
    ] = None,
) -> None:
    """Have a running server judge stored Interactions again: a new attempt with origin rerun, beside the records there are.

    The server needs its API switched on (`api` in the configuration), the token the scope evaluate, and for --wait also read.
    Prints what was queued, or with --wait the records.

    Exit status: 0 queued, or with --wait all passed; 1 with --wait, when one failed; 2 for a wrong option, or a server that
    does not do it; 3 when nothing was queued, or with --wait one gave no verdict (inconclusive, error, or not ended in time).

    Example: otel-eval rerun --evaluator refund-policy --agent support-agent --since 1h --wait
    """
    from otel_eval.api.client import ApiCallError, ApiClient, Tls  # half a second of gRPC

    start_ns = since_ns(since)
    if bool(interaction) == (agent is not None or session is not None or since is not None):
        raise fail("name Interactions by --interaction, or by --agent, --session and --since")
    try:
        seconds = parse_duration(timeout)
    except ValueError as error:
        raise fail(f"--timeout: {error}") from error
    address, secure = _where(api, None if api else configuration(config))
    secure = secure or ca_file is not None or cert_file is not None
    token = os.environ.get(token_env)
    if token is None and token_env != TOKEN:
        raise fail(f"--token-env: the environment variable {token_env} is not set")
    if token is not None:
        token = token.removesuffix("\n").removesuffix("\r")  # as a file has it
    request = _request(evaluator, interaction or [], agent, session, start_ns, most)

    async def ask() -> int:
        tls = Tls(ca_file=ca_file, cert_file=cert_file, key_file=key_file) if secure else None
        async with ApiClient(address, token=token, tls=tls) as client:
            started = await client.start_evaluation(request)
            if not wait or not started.evaluations:
                return _print_queued(started, format, sys.stdout)
            typer.echo(f"otel-eval: {number_of(len(started.evaluations), 'evaluation')} queued", err=True)
            return await _wait(client, started, seconds, format, sys.stdout)

    try:
        status = asyncio.run(ask())
    except ApiCallError as error:
        raise fail(f"the API at {address}: {_explained(error.code, str(error), token_env)}") from error
    except OSError as error:
        raise fail(str(error)) from error
    raise typer.Exit(status)


def _where(api: str | None, config: Config | None) -> tuple[str, bool]:
    """The address, and whether it is to be spoken to with TLS. Exits for what is no address."""
    if config is not None:
        host, port = split_address(config.api.endpoint) or ("127.0.0.1", 4319)
        if port == 0:
            raise fail("the configuration lets api.endpoint be any port: --api says which it is (serve prints it)")
        reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return (f"[{reached}]:{port}" if ":" in reached else f"{reached}:{port}"), config.api.tls is not None
    assert api is not None
    url = urlsplit(api if "://" in api else f"http://{api}")
    if url.scheme not in ("http", "https") or split_address(url.netloc) is None or url.path not in ("", "/"):
        raise fail(f"--api: {api!r} is not host:port, nor https://host:port")
    return url.netloc, url.scheme == "https"


def _request(
    evaluators: list[str], ids: list[str], agent: str | None, session: str | None, start_ns: int | None, most: int
) -> pb.StartEvaluationRequest:
    from otel_eval.api.messages import filled, time_of
    from otel_eval.v1 import evaluations_pb2 as pb

    request = pb.StartEvaluationRequest(evaluators=evaluators, interaction_ids=ids, max_interactions=most)
    if not ids:
        only = filled(pb.InteractionFilter(), agent=agent, session=session, since=time_of(start_ns))
        request.filter.CopyFrom(only)
    return request


def _print_queued(started: pb.StartEvaluationResponse, format: Format, out: TextIO) -> int:
    rows = [
        {
            "evaluation_id": each.evaluation_id,
            "interaction_id": each.interaction_id,
            "evaluator": each.evaluator,
            "revision": each.revision,
            "attempt": each.attempt,
        }
        for each in started.evaluations
    ]
    if format is not Format.TABLE:
        print_json(rows, format, out)
    else:
        for row in rows:
            out.write(
                f"{printable(str(row['evaluator']))} judges {row['interaction_id']} again, attempt {row['attempt']}\n"
            )
        out.write(
            f"{number_of(len(rows), 'evaluation')} queued\n" if rows else "no Interaction matches: nothing is queued\n"
        )
    return 0 if rows else UNDECIDED


async def _wait(
    client: ApiClient, started: pb.StartEvaluationResponse, seconds: float, format: Format, out: TextIO
) -> int:
    """Print the records as they come (a table at the end); the exit status."""
    from otel_eval.api.following import verdicts
    from otel_eval.experiment.progress import bar

    records: list[EvaluationRecord] = []
    in_time = False
    with bar(len(started.evaluations), "evaluations") as advance, contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            async for record in verdicts(client, started):
                records.append(record)
                advance(record.evaluator)
            in_time = True
    if records or format is not Format.TABLE:
        write(records, format, out)
    missing = len(started.evaluations) - len(records)
    if missing:
        why = "their Interactions were deleted, or judged in a newer revision" if in_time else "they go on without us"
        typer.echo(f"otel-eval: {number_of(missing, 'evaluation')} without a verdict: {why}", err=True)
    return _status(records, missing)


def _status(records: list[EvaluationRecord], missing: int) -> int:
    counts = Counter(record.outcome.name for record in records)
    if counts["failed"]:
        return FAILED
    return UNDECIDED if missing or counts.total() > counts["passed"] else 0


def _explained(code: str, message: str, token_env: str) -> str:
    """What can be done about it, where that is not in the message."""
    said = printable(message)
    if code == "UNAVAILABLE":
        return f"does not answer ({said}): is the server running, with api.enabled: true?"
    if code == "UNAUTHENTICATED":
        return f"{said} (the environment variable {token_env} holds the one that is shown)"
    return said
