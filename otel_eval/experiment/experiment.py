"""An experiment: cases put to an agent, its telemetry judged, a gate over what came out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from otel_eval.evaluators.contract import Evaluator
from otel_eval.experiment.cases import EvalCase, checked_cases, checked_evaluators, shown
from otel_eval.experiment.errors import EventLoopRunning, InvalidExperiment, check_seconds
from otel_eval.experiment.gates import Gate, all_cases_should_pass, decided
from otel_eval.experiment.progress import Progress
from otel_eval.experiment.report import Report
from otel_eval.experiment.telemetry import InProcess, Telemetry

if TYPE_CHECKING:
    from otel_eval.config import Config

Agent: TypeAlias = Callable[[str], Any]
"""The agent under test: given the command it returns its reply, or an awaitable of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Cases, an agent and what decides. Immutable, so that one experiment can be run again and again.

    ``evaluators`` check every case, beside the case's own. Each case runs ``repeat`` times, up to ``concurrency`` attempts
    at a time. ``reply`` takes the text out of what the agent returns; without it, it is the text itself. ``prepare`` is
    called (and awaited) with the case before each attempt. An attempt's agent may take ``timeout`` seconds; an
    evaluator of one's own, which runs in a thread as it does in the server, ``evaluator_timeout`` seconds over one
    attempt, past which it is an error of its own result. ``telemetry`` says where the agent's spans are read:
    :class:`InProcess`, or :class:`~otel_eval.experiment.wire.OverOtlp`. ``config`` (a path or a read configuration)
    adds the evaluators that it binds to the agent by name.

    Raises InvalidExperiment for cases with the same id, for numbers out of range and for settings of a wrong kind: before
    the first attempt, since attempts cost time and money.
    """

    cases: Iterable[EvalCase]
    agent: Agent
    evaluators: Iterable[Evaluator] = ()
    repeat: int = 1
    gate: Gate = field(default_factory=all_cases_should_pass)
    concurrency: int = 1
    reply: Callable[[Any], Any] | None = None
    prepare: Callable[[EvalCase], Any] | None = None
    timeout: float | None = None
    evaluator_timeout: float = 60.0
    telemetry: Telemetry = field(default_factory=InProcess)
    config: Config | str | os.PathLike[str] | None = None
    name: str = "experiment"
    progress: Progress | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cases", checked_cases(self.cases))
        object.__setattr__(self, "evaluators", checked_evaluators(self.evaluators, "the experiment"))
        for name, value in (("repeat", self.repeat), ("concurrency", self.concurrency)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InvalidExperiment(f"{name} is a whole number from 1, not {value!r}")
        if self.timeout is not None:
            check_seconds("timeout", self.timeout)
        check_seconds("evaluator_timeout", self.evaluator_timeout)
        if not callable(self.agent):
            hint = ""
            if callable(getattr(self.agent, "run", None)):
                hint = ", such as lambda command: agent.run(command)"
            raise InvalidExperiment(f"the agent is a function from a command to a reply{hint}; not {shown(self.agent)}")
        for name in ("reply", "prepare", "progress"):
            if (function := getattr(self, name)) is not None and not callable(function):
                raise InvalidExperiment(f"{name} is a function, not {shown(function)}")
        if not isinstance(self.gate, Gate):
            hint = f"; call it: {self.gate.__name__}(…)" if callable(self.gate) else ""
            raise InvalidExperiment(f"a gate is a Gate, not {shown(self.gate)}{hint}")
        if not callable(getattr(self.telemetry, "open", None)):
            raise InvalidExperiment(f"telemetry is InProcess(…) or OverOtlp(…), not {shown(self.telemetry)}")
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidExperiment(f"an experiment's name is a text, not {self.name!r}")

    def run(self) -> Report:
        """Run it to the end. Raises EventLoopRunning where an event loop runs already."""
        __tracebackhide__ = True
        if _a_loop_runs():
            raise EventLoopRunning(
                "an event loop runs here already: await experiment.run_async() instead of calling run()"
            )
        return asyncio.run(self.run_async())

    async def run_async(self) -> Report:
        """Run it to the end. What an agent or an evaluator raises is in the report; cancellation passes."""
        from otel_eval.experiment.runner import Run  # with the assembler: not needed to say what an experiment is
        from otel_eval.judges import using_judges_of_this_loop

        async with using_judges_of_this_loop():
            attempts = await Run(self).attempts()
        return Report(name=self.name, attempts=attempts, gate=decided(self.gate, attempts))


def _a_loop_runs() -> bool:
    """Asked apart, so that what an experiment raises does not name the answer as its context."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ExperimentRunner:
    """An :class:`Experiment` said step by step. Each step gives a new runner; the last is ``run()`` or ``run_async()``."""

    _settings: tuple[tuple[str, Any], ...] = ()

    def cases(self, *cases: EvalCase | Iterable[EvalCase]) -> ExperimentRunner:
        """These cases (also as lists of them), after those given before."""
        given = [one for each in cases for one in ((each,) if isinstance(each, EvalCase) else each)]
        return self._with("cases", (*self._get("cases", ()), *given))

    def agent(self, agent: Agent, *, reply: Callable[[Any], Any] | None = None) -> ExperimentRunner:
        """The agent under test, and how its text is taken out of what it returns."""
        return self._with("agent", agent)._with("reply", reply)

    def evaluator(self, *evaluators: Evaluator) -> ExperimentRunner:
        """Evaluators of every case, after those given before."""
        return self._with("evaluators", (*self._get("evaluators", ()), *evaluators))

    def repeat(self, times: int) -> ExperimentRunner:
        """How often each case runs."""
        return self._with("repeat", times)

    def gate(self, gate: Gate) -> ExperimentRunner:
        """What decides; a second gate has to pass as well."""
        before = self._get("gate", None)
        return self._with("gate", gate if before is None else before & gate)

    def concurrency(self, attempts: int) -> ExperimentRunner:
        """How many attempts run at a time."""
        return self._with("concurrency", attempts)

    def configured(self, **settings: Any) -> ExperimentRunner:
        """Any other setting of :class:`Experiment`, by its name."""
        runner = self
        for name, value in settings.items():
            runner = runner._with(name, value)
        return runner

    def experiment(self) -> Experiment:
        """The experiment that was said. Raises InvalidExperiment without cases or agent."""
        missing = [name for name in ("cases", "agent") if self._get(name, None) is None]
        if missing:
            raise InvalidExperiment(f"an experiment needs {' and '.join(missing)}")
        return Experiment(**dict(self._settings))

    def run(self) -> Report:
        """As :meth:`Experiment.run`."""
        return self.experiment().run()

    async def run_async(self) -> Report:
        """As :meth:`Experiment.run_async`."""
        return await self.experiment().run_async()

    def _with(self, name: str, value: Any) -> ExperimentRunner:
        others = tuple(setting for setting in self._settings if setting[0] != name)
        return replace(self, _settings=(*others, (name, value)))

    def _get(self, name: str, default: Any) -> Any:
        return dict(self._settings).get(name, default)
