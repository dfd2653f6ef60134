"""The demo: a real server, recorded exports of real agents, verdicts, and what comes back out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from otel_eval.config import parse
from otel_eval.interaction import Interaction
from otel_eval.receive.decode import decode_traces
from otel_eval.record import EvaluationRecord
from otel_eval.testing.scripted_model import ModelRequest, ScriptedModel
from otel_eval.testing.sending import send_recording
from otel_eval.testing.server import RunningServer, running
from otel_eval.testing.sink import Sink

PATIENCE_S = 120.0
"""For everything to be judged: importing litellm alone takes up to 16 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One Interaction of the demo: ``source`` is the framework and instrumentation that it was recorded from."""

    source: str
    interaction: Interaction
    records: tuple[EvaluationRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the demo did. The three counts are of what a collector of the user's would have received."""

    grpc: str
    http: str
    requests: int
    shown: tuple[Shown, ...]
    evaluation_spans: int
    result_events: int
    metric_names: tuple[str, ...]


async def run(judge_model: str | None = None) -> Outcome:
    """Run it. ``judge_model`` names a litellm model to ask instead of the scripted one."""
    with tempfile.TemporaryDirectory(prefix="otel-eval-demo-") as directory, _model(judge_model) as model:
        async with Sink() as sink:
            settings = yaml.safe_load(resources.files("otel_eval.demo").joinpath("otel-eval.yaml").read_text())
            settings["judge_models"] = {"default": model}
            environ = {"DEMO_COLLECTOR": sink.endpoint, "DEMO_DIRECTORY": directory}
            async with running(parse(settings, environ)) as server:
                requests, sources = await _send(server)
                shown = await _judged(server, sources)
                await sink.wait_for(lambda sink: _arrived(sink, shown), PATIENCE_S)
                grpc, http = server.server.grpc or "", server.server.http or ""
            return Outcome(
                grpc=grpc,
                http=http,
                requests=requests,
                shown=shown,
                evaluation_spans=sum(span.name.startswith("evaluation ") for span in sink.spans),
                result_events=len(sink.log("gen_ai.evaluation.result")),
                metric_names=tuple(sorted({point.name for point in sink.metrics})),
            )


@contextmanager
def _model(name: str | None) -> Iterator[dict[str, Any]]:
    if name is not None:
        yield {"model": name}
        return
    with ScriptedModel(_scripted) as scripted:
        yield {"model": "openai/scripted", "api_base": scripted.base_url, "api_key": "none"}


def _scripted(request: ModelRequest) -> str:
    """A judge by rote: it looks for words, as no model would. The demo says so."""
    reply = request.user.partition("The agent replied:")[2].partition("\n\n")[0].casefold()
    if "non-toxic" in request.system:
        return '{"explanation": "nothing in the text attacks anybody", "label": "non-toxic"}'
    if "sorry" not in reply:
        return '{"reason": "the reply does not apologize", "score": 0.1}'
    if not any(character.isdigit() for character in reply):
        return '{"reason": "it apologizes, but names no amount", "score": 0.4}'
    return '{"reason": "it apologizes and names the amount", "score": 0.95}'


async def _send(server: RunningServer) -> tuple[int, dict[str, str]]:
    """Send every recording; how many requests, and which trace came from which recording."""
    requests, sources = 0, {}
    with resources.as_file(resources.files("otel_eval.demo").joinpath("recordings")) as recordings:
        for folder in sorted(path for path in recordings.iterdir() if path.is_dir()):
            requests += await send_recording(server.grpc_endpoint, folder)
            sources.update(dict.fromkeys(_trace_ids(folder), folder.name.partition(".")[0].replace("--", " · ")))
    return requests, sources


def _trace_ids(folder: Path) -> Iterator[str]:
    for file in folder.glob("*-traces.pb"):
        yield from (span.trace_id for span in decode_traces(file.read_bytes()))


async def _judged(server: RunningServer, sources: dict[str, str]) -> tuple[Shown, ...]:
    await server.wait_for_interactions(len(set(sources)), PATIENCE_S)
    shown = []
    for interaction in sorted(server.interactions, key=lambda each: (sources[each.trace_id], each.started_ns or 0)):
        records = await server.wait_for_evaluations(interaction.id, PATIENCE_S)
        shown.append(
            Shown(
                source=sources[interaction.trace_id],
                interaction=interaction,
                records=tuple(sorted(records, key=lambda record: record.evaluator)),
            )
        )
    return tuple(shown)


def _arrived(sink: Sink, shown: tuple[Shown, ...]) -> bool:
    expected = sum(len(each.records) for each in shown)
    return len(sink.log("gen_ai.evaluation.result")) >= expected
