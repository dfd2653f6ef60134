import asyncio
import threading

import pytest
from opentelemetry import trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased

from experiment.agents import Shop, messages
from otel_eval.evaluators.tools import should_call_tool, should_not_call_tool
from otel_eval.experiment.cases import EvalCase
from otel_eval.experiment.current import current_attempt
from otel_eval.experiment.experiment import Experiment
from otel_eval.experiment.results import Status
from otel_eval.experiment.telemetry import InProcess

CASE = EvalCase("order", "Where is o_9?", should_call_tool("getOrder"))
NEW_ROOT = trace.set_span_in_context(trace.INVALID_SPAN)


def run(agent, telemetry, **settings):
    return Experiment(**{"cases": [CASE], "agent": agent, "telemetry": telemetry, **settings}).run()


def test_exporters_of_the_agent_still_get_everything():
    """Our processor stands beside them, and the attempt's sampled parent is no span of anybody's."""
    shop, exporter = Shop(), InMemorySpanExporter()
    shop.tracers.add_span_processor(SimpleSpanProcessor(exporter))
    report = run(shop, shop.telemetry)
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["execute_tool getOrder", "invoke_agent shop"]
    assert f"{spans[0].context.trace_id:032x}" == report.attempts[0].trace_id


def test_processors_are_added_once_and_inert_between_attempts():
    """A hundred experiments on one provider add one processor; spans outside of attempts are not kept."""
    shop = Shop()
    for _ in range(3):
        assert run(shop, shop.telemetry).passed
    assert len(shop.tracers._active_span_processor._span_processors) == 1
    with shop.tracer.start_as_current_span("between"):
        pass
    assert run(shop, shop.telemetry).attempts[0].notes == ()


def test_the_attempt_is_sampled_where_parents_decide():
    """A ratio or always_off root sampler that heeds its parent does not hide the attempt."""
    shop = Shop(sampler=ParentBased(ALWAYS_OFF))
    assert run(shop, shop.telemetry).passed


def test_a_sampler_that_drops_is_named():
    """No spans is not 'no tools called': it is inconclusive, and says which sampler it was."""
    shop = Shop(sampler=ALWAYS_OFF)
    report = run(shop, shop.telemetry)
    (result,) = report.results
    assert result.describe() == (
        "INCONCLUSIVE telemetry: the sampler AlwaysOffSampler drops the agent's spans although their parent is sampled"
    )
    assert report.attempts[0].status is Status.INCONCLUSIVE
    assert report.tally("tools").not_run == 1


def test_a_disabled_sdk_is_named(monkeypatch):
    """OTEL_SDK_DISABLED is easily forgotten in a CI environment."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    shop = Shop()
    assert "disabled (OTEL_SDK_DISABLED=true)" in run(shop, shop.telemetry).results[0].describe()


def test_a_provider_that_records_nothing_is_named():
    """A no-op provider was given, or is the global one."""
    report = run(str, InProcess(tracer_provider=trace.NoOpTracerProvider(), logger_provider=LoggerProvider(False)))
    assert "no provider of the OpenTelemetry SDK: the tracer provider is opentelemetry.trace.NoOpTracerProvider" in (
        report.results[0].describe()
    )


def test_an_agent_without_instrumentation_is_named():
    """The provider works, and nothing wrote to it."""
    assert "it is not instrumented, or" in run(str, Shop().telemetry).results[0].describe()


def test_spans_without_an_agent_are_named():
    """HTTP spans alone tell nothing of what an agent did."""
    shop = Shop()

    def agent(command: str) -> str:
        with shop.tracer.start_as_current_span("GET /orders"):
            return "fine"

    assert run(agent, shop.telemetry).results[0].describe() == (
        "INCONCLUSIVE telemetry: 1 span came (GET /orders), but none is an agent's or a model's: "
        "the agent's framework is not instrumented"
    )


def test_a_thread_that_begins_a_new_trace_is_found_by_session():
    """Threads lose the context; the conversation's id brings their trace back, also with several attempts at a time."""
    shop = Shop()

    def agent(command: str) -> str:
        session = current_attempt().session_id
        return in_thread(lambda: traced(shop, command, session))

    cases = [EvalCase(f"c{n}", f"command {n}", should_call_tool("getOrder")) for n in range(4)]
    report = run(agent, shop.telemetry, cases=cases, concurrency=4)
    assert report.passed
    assert [attempt.interaction.asked for attempt in report.attempts] == [case.command for case in cases]
    assert report.attempts[0].notes == ("a trace of its own joined by session id",)


def test_a_session_that_shows_late_brings_what_came_before():
    """The tool's span ended before any span named the session: its trace is adopted whole."""
    shop = Shop()

    def work(session: str) -> str:
        with shop.tracer.start_as_current_span("invoke_agent shop", context=NEW_ROOT) as span:
            shop.call_tool("getOrder", {}, {})
            span.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": session})
        return "fine"

    def agent(command: str) -> str:
        session = current_attempt().session_id
        return in_thread(lambda: work(session))

    report = run(agent, shop.telemetry, cases=[CASE, EvalCase("b", "b", should_call_tool("getOrder"))], concurrency=2)
    assert report.passed


def test_a_thread_without_a_session_is_found_by_time_when_alone():
    """With one attempt at a time what starts meanwhile is the attempt's, and that is noted."""
    shop = Shop()
    report = run(lambda command: in_thread(lambda: traced(shop, command, "mine")), shop.telemetry)
    assert report.passed
    assert report.attempts[0].notes == ("a trace of its own joined because it started during the attempt",)


def test_strays_of_several_attempts_are_nobodys():
    """They could be anybody's; the result says what would help."""
    shop = Shop()
    cases = [EvalCase("a", "a", should_call_tool("x")), EvalCase("b", "b", should_not_call_tool("x"))]
    barrier = threading.Barrier(2, timeout=5)

    def agent(command: str) -> str:
        reply = in_thread(lambda: traced(shop, command, "mine"))
        barrier.wait()
        return reply

    report = run(agent, shop.telemetry, cases=cases, concurrency=2)
    assert {attempt.status for attempt in report.attempts} == {Status.INCONCLUSIVE}
    assert "set concurrency=1, or current_attempt().session_id" in report.results[0].describe()


def test_a_span_from_before_the_attempt_is_not_its():
    """What started earlier and ends meanwhile belongs to something else."""
    shop = Shop()
    before = shop.tracer.start_span("server request", context=NEW_ROOT)

    def agent(command: str) -> str:
        before.end()
        return shop(command)

    report = run(agent, shop.telemetry)
    assert report.attempts[0].notes == ()
    assert report.passed


def test_the_attempt_waits_for_every_span_that_it_saw_starting():
    """A background thread may end its spans after the function returned."""
    shop, release = Shop(), threading.Event()
    threads = []

    def agent(command: str) -> str:
        span = shop.tracer.start_span(
            "execute_tool late", attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "late"}
        )
        threads.append(threading.Thread(target=lambda: (release.wait(5), span.end())))
        threads[-1].start()
        reply = shop(command)
        threading.Timer(0.05, release.set).start()
        return reply

    report = run(agent, shop.telemetry)
    threads[0].join()
    assert report.attempts[0].notes == ()
    assert not any("had not ended" in note for note in report.attempts[0].notes)


@pytest.mark.parametrize("begins_a_trace", [True, False])
def test_a_thread_that_ran_into_its_timeout_is_not_the_next_attempts(begins_a_trace):
    """It goes on unheard: neither its trace nor its session is taken for work of the attempt that runs by then."""
    shop, going, done = Shop(), threading.Event(), threading.Event()

    def agent(command: str) -> str:
        if command != "slow":
            going.set()
            done.wait(5)
            return shop(command)
        session = current_attempt().session_id
        going.wait(5)
        with shop.invocation("slow", "late", session=session, context=NEW_ROOT if begins_a_trace else None):
            pass
        done.set()
        return "late"

    cases = [EvalCase("slow", "slow"), EvalCase("next", "next", should_call_tool("getOrder"))]
    slow, following = run(agent, shop.telemetry, cases=cases, timeout=0.3).attempts
    assert slow.results[0].check == "target"
    assert following.notes == ()
    assert following.interaction.asked == "next"


def test_a_cancelled_experiment_lets_go():
    """Cancellation reaches the agent and leaves nothing watched behind: the next experiment is its own."""
    shop = Shop()

    async def main() -> None:
        started = asyncio.Event()

        async def forever(command: str) -> str:
            shop.tracer.start_span("never ends")
            started.set()
            await asyncio.Event().wait()
            return "never"

        task = asyncio.create_task(Experiment(cases=[CASE], agent=forever, telemetry=shop.telemetry).run_async())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)

    asyncio.run(main())
    report = run(shop, shop.telemetry)
    assert report.passed
    assert report.attempts[0].notes == ()


def test_a_span_that_never_ends_is_noted():
    """Patience has an end, and the report says what is missing."""
    shop = Shop()
    telemetry = InProcess(tracer_provider=shop.tracers, logger_provider=shop.loggers, patience=0.05)

    def agent(command: str) -> str:
        shop.tracer.start_span("forgotten")
        return shop(command)

    assert run(agent, telemetry).attempts[0].notes == ("1 span had not ended when the attempt did",)


def test_content_that_comes_as_log_records_is_joined():
    """Instrumentations that write messages as events are read like those that write attributes."""
    shop = Shop()
    logger = shop.loggers.get_logger("shop")

    def agent(command: str) -> None:
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
        with shop.invocation(None, None), shop.tracer.start_as_current_span("chat m", attributes=attributes):
            shop.call_tool("getOrder", {}, {})
            logger.emit(
                event_name="gen_ai.client.inference.operation.details",
                attributes={
                    "gen_ai.operation.name": "chat",
                    "gen_ai.input.messages": messages("user", command),
                    "gen_ai.output.messages": messages("assistant", "from the log"),
                },
            )

    report = run(agent, shop.telemetry)
    assert (report.attempts[0].interaction.asked, report.attempts[0].interaction.reply) == (
        "Where is o_9?",
        "from the log",
    )


def test_several_agents_in_a_row_are_judged_together():
    """A pipeline of agents is one invocation of what is under test: the first question, the last reply, all tools."""
    shop = Shop()

    def agent(command: str) -> str:
        with shop.invocation(command, "o_9", name="extractor"):
            pass
        with shop.invocation("o_9", "delivered", name="answerer"):
            shop.call_tool("getOrder", {}, {})
        return "delivered"

    report = run(agent, shop.telemetry)
    (attempt,) = report.attempts
    assert (attempt.interaction.agent, attempt.interaction.asked, attempt.interaction.reply) == (
        "extractor", "Where is o_9?", "delivered",
    )  # fmt: skip
    assert report.passed
    assert attempt.notes == ("2 agents ran one after another; they are judged together, as one Interaction",)


def test_headers_and_environment_carry_the_attempt_to_another_process():
    """traceparent is sampled, baggage has the session, and without a receiver there is no endpoint."""
    shop, seen = Shop(), {}

    def agent(command: str) -> str:
        attempt = current_attempt()
        seen.update(attempt.headers(), environ=attempt.environ(), session=attempt.session_id)
        return shop(command)

    (attempt,) = run(agent, shop.telemetry).attempts
    version, trace_id, _, flags = seen["traceparent"].split("-")
    assert (version, trace_id, flags) == ("00", attempt.trace_id, "01")
    assert seen["baggage"] == f"session.id={attempt.session}"
    assert seen["session"] == attempt.session
    assert seen["environ"]["TRACEPARENT"] == seen["traceparent"]
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" not in seen["environ"]


@pytest.mark.parametrize("installed", [False, True])
def test_global_providers_are_used_or_installed(installed, monkeypatch):
    """Without any provider ours become the global ones; an existing one is used as it is."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", TracerProvider(shutdown_on_exit=False) if installed else None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", type(trace._TRACER_PROVIDER_SET_ONCE)())
    before = trace.get_tracer_provider() if installed else None

    def agent(command: str) -> str:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "global"}
        with trace.get_tracer("mine").start_as_current_span("invoke_agent", attributes=attributes):
            return "fine"

    report = run(agent, InProcess(logger_provider=LoggerProvider(shutdown_on_exit=False)))
    assert report.attempts[0].interaction.agent == "global"
    if installed:
        assert trace.get_tracer_provider() is before


def in_thread(work) -> str:
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join(5)
    return found[0]


def traced(shop: Shop, command: str, session: str) -> str:
    with shop.invocation(command, command, session=session, context=NEW_ROOT):
        shop.call_tool("getOrder", {}, {})
    return command


def test_an_agent_span_that_never_ended_is_not_called_missing_instrumentation():
    """Something was seen starting: the report says that, and not that nothing is instrumented."""
    shop = Shop()
    telemetry = InProcess(tracer_provider=shop.tracers, logger_provider=shop.loggers, patience=0.05)

    def agent(command: str) -> str:
        shop.tracer.start_span("invoke_agent shop")
        return "fine"

    assert run(agent, telemetry).results[0].describe() == (
        "INCONCLUSIVE telemetry: 1 span started and had not ended when the attempt did: the agent works on after it "
        "returned, or never ends its spans"
    )


def test_a_tool_span_without_its_agents_is_not_called_missing_instrumentation():
    """An agent that died left what had ended by then; the span that it is below never came."""
    shop = Shop()
    telemetry = InProcess(tracer_provider=shop.tracers, logger_provider=shop.loggers, patience=0.05)

    def agent(command: str) -> str:
        with trace.use_span(shop.tracer.start_span("invoke_agent shop"), end_on_exit=False):
            shop.call_tool("getOrder", {}, "ok")
        return "fine"

    assert run(agent, telemetry).results[0].describe() == (
        "INCONCLUSIVE telemetry: 1 span came (execute_tool getOrder), but no agent's or model's; 1 span had not ended when "
        "the attempt did"
    )


def test_a_sampler_that_drops_traces_of_the_agents_own_is_named():
    """A thread begins a trace of its own, which ParentBased samples by its root sampler."""
    shop = Shop(sampler=ParentBased(ALWAYS_OFF))

    def agent(command: str) -> str:
        thread = threading.Thread(target=lambda: shop.tracer.start_span("invoke_agent shop").end())
        thread.start()
        thread.join()
        return "fine"

    described = run(agent, shop.telemetry).results[0].describe()
    assert "or it began a trace of its own, as in a new thread, where the sampler ParentBased{" in described
