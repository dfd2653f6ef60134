"""CrewAI, LlamaIndex and LangChain.js under OpenLLMetry, which all need more than the span's kind."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.assemble.nodes import observe
from otel_eval.assemble.trace_ties import ties
from otel_eval.conventions.facts import Facts, Kind, Mark
from otel_eval.conventions.reading.reprs import CutRepr, objects_in
from otel_eval.conventions.registry import facts_of
from otel_eval.interaction import GapKind, Interaction
from otel_eval.signals import Scope, Span, SpanEvent
from otel_eval.testing.spans import SECOND_NS, START_NS, message, model_span, span

CREW, LLAMA, JS = (
    Scope("opentelemetry.instrumentation.crewai.instrumentation"),
    Scope("opentelemetry.instrumentation.llamaindex"),
    Scope("@traceloop/instrumentation-langchain"),
)

OUTPUTS = """[TaskOutput(description='Refund o_9, "please" [now]', raw='Done.', output_format=<OutputFormat.RAW: 'raw'>, messages=[\
{'role': 'system', 'content': 'You are bob.'}, {'role': 'user', 'content': 'Current Task: Refund o_9, "please" [now] messages=[]'}, \
{'role': 'assistant', 'content': '', 'tool_calls': [{'id': 'c1', 'type': 'function', 'function': {'name': 'refund', \
'arguments': '{"order": "o_9"}'}}]}, {'role': 'tool', 'content': 'Error executing tool: down', 'tool_call_id': 'c1', \
'name': 'refund'}, {'role': 'assistant', 'content': 'Done.'}], tool_failures=[ToolFailureRecord(tool_name='refund')])]"""


def crew(*, outputs: str | None = OUTPUTS, failed: str | None = None) -> list[Span]:
    """A crew of one agent with one task."""
    operation = {"gen_ai.operation.name": "invoke_agent"}
    status = {} if failed is None else {"status": "error", "status_message": failed}
    own = {
        "crewai.crew.id": "1",
        "crewai.crew.tasks_output": outputs,
        "crewai.crew.result": None if failed else "Done.",
    }
    root = span("crewai.workflow", attributes={**operation, **own}, scope=CREW, seconds=3, **status)
    task = span(
        "Refund o_9.task", parent=root, seconds=2.5, **status,
        attributes={**operation, "traceloop.span.kind": "task", "crewai.task.description": 'Refund o_9, "please" [now]'},
    )  # fmt: skip
    agent = {**operation, "traceloop.span.kind": "agent", "crewai.agent.role": "bob", "gen_ai.agent.name": "bob"}
    return [root, task, span("bob.agent", parent=task, attributes=agent, seconds=2, **status)]


def only(spans: list[Span]) -> Interaction:
    """The one Interaction that the spans tell of."""
    (found,) = assemble(spans)
    return found


def test_a_crew_is_one_interaction() -> None:
    """Crew, task and agent all say ``invoke_agent``; the tools are in the repr of the tasks' outputs."""
    found = only(crew())
    assert (found.agent, found.asked, found.reply) == ("bob", 'Refund o_9, "please" [now]', "Done.")
    assert [(call.name, call.arguments, call.error) for call in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "Error executing tool: down")
    ]


def test_a_crew_that_failed() -> None:
    """The task's description was asked, and nothing replied."""
    found = only(crew(outputs=None, failed="boom"))
    assert (found.asked, found.reply) == ('Refund o_9, "please" [now]', None)
    assert found.failure is not None


def test_a_crew_whose_outputs_are_cut() -> None:
    """What cannot be read is a gap, not an absence of tool calls."""
    facts = facts_of(crew(outputs=OUTPUTS[:300])[0])
    assert facts is not None
    assert Mark(field="output", kind=GapKind.TRUNCATED) in facts.marks
    assert only(crew(outputs=OUTPUTS[:300])).gap("tool_calls") is not None


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Out(a=1, b='x, y=2')", [{"a": "1", "b": "'x, y=2'"}]),
        ("[Out(a=[1, 2]), Out(a={'b': ')'})]", [{"a": "[1, 2]"}, {"a": "{'b': ')'}"}]),
        ("Other(a=1)", []),
        ("talks of Out(a=1)", []),
        ("[]", []),
    ],
)
def test_reprs(text: str, fields: list[dict[str, str]]) -> None:
    """Only the top level of an object is its fields; a text in it is a text."""
    assert objects_in(text, "Out") == fields


@pytest.mark.parametrize("text", ["Out(a=1", "Out(a='1)", "[Out(a=1), Out(a="])
def test_cut_reprs(text: str) -> None:
    """A repr without its end is told from one that has nothing."""
    with pytest.raises(CutRepr):
        objects_in(text, "Out")


def llama_step(parent: Span, event: dict[str, Any] | None, second: int, **attributes: Any) -> Span:
    """A step that gave that event."""
    own = {"traceloop.span.kind": "task", "traceloop.entity.name": "BaseWorkflowAgent.task", **attributes}
    own["traceloop.entity.output"] = None if event is None else json.dumps(event)
    started = {"started_ns": START_NS + second * SECOND_NS}
    return span("BaseWorkflowAgent.task", parent=parent, attributes=own, seconds=0.5, **started)


def llama_message(role: str, text: str) -> dict[str, Any]:
    """A ChatMessage as JSON."""
    return {"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}]}


def llama_run() -> list[Span]:
    """A run of an agent with one tool call that failed."""
    root = span("FunctionAgent.workflow", attributes={"traceloop.span.kind": "workflow"}, scope=LLAMA, seconds=9)
    result = {
        "tool_name": "refund", "tool_id": "c1",
        "tool_output": {"blocks": [{"block_type": "text", "text": "down"}], "tool_name": "refund", "raw_input": {},
                        "raw_output": "down", "is_error": True},
    }  # fmt: skip
    system = llama_message("system", "You are bob.")
    end = {"response": llama_message("assistant", "Sorry."), "current_agent_name": "bob", "tool_calls": []}
    return [
        root,
        llama_step(root, {"input": [llama_message("user", "Refund o_9")], "current_agent_name": "bob"}, 1),
        llama_step(root, {"input": [system, llama_message("user", "Refund o_9")], "current_agent_name": "bob"}, 2),
        llama_step(root, None, 3),
        llama_step(root, result, 4, **{"tool.name": "refund", "tool.arguments": '{"order": "o_9"}'}),
        llama_step(root, {"result": end}, 5),
    ]


def test_a_llama_index_run_is_told_by_its_steps() -> None:
    """All steps have one name; what they gave back says what they are."""
    found = only(llama_run())
    assert (found.agent, found.asked, found.reply) == ("bob", "Refund o_9", "Sorry.")
    assert [(call.name, call.arguments, call.error) for call in found.tool_calls] == [
        ("refund", {"order": "o_9"}, "down")
    ]


def test_a_llama_index_run_that_lost_its_root() -> None:
    """Where the run raised its root never ends: an incomplete Interaction under the id of the missing span."""
    spans = llama_run()
    root, *steps = spans
    found = only(steps[:2])
    assert (found.span_id, found.agent, found.asked, found.complete) == (root.span_id, "bob", "Refund o_9", False)
    assert only(spans).id == found.id


def test_llama_indexs_handoff_is_no_tool_call() -> None:
    """AgentWorkflow passes on with a tool of its own; anybody else's tool of that name is one."""
    root = span("AgentWorkflow.workflow", attributes={"traceloop.span.kind": "workflow"}, scope=LLAMA)
    told = {"tool.name": "handoff", "tool.arguments": '{"to_agent": "carol", "reason": "r"}'}
    other = {"tool.name": "handoff", "tool.arguments": '{"ticket": 1}'}
    kinds = [facts.kind for call in (told, other) if (facts := facts_of(llama_step(root, None, 1, **call))) is not None]
    assert kinds == [Kind.HANDOFF, Kind.TOOL]


def lc(kind: str, **fields: Any) -> dict[str, Any]:
    """A message as LangChain.js serialises it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", kind], "kwargs": fields}


def graph(
    asked: str, reply: str, *, agent: str | None = "bob", second: int = 0, seconds: float = 10, **more: Any
) -> Span:
    """A graph's span: the invocation, in a trace of its own."""
    call = {"id": "c-" + asked, "name": "ask", "args": {}, "type": "tool_call"}
    state = [
        lc("HumanMessage", content=asked),
        lc("AIMessage", content="", name=agent, type="ai", tool_calls=[call]),
        lc("ToolMessage", content=more.pop("result", "2"), name="ask", tool_call_id="c-" + asked),
        lc("AIMessage", content=reply, name=agent, type="ai"),
    ]
    own = {
        "gen_ai.operation.name": "workflow",
        "traceloop.span.kind": "workflow",
        "traceloop.workflow.name": "CompiledStateGraph",
        "traceloop.entity.input": json.dumps({"messages": [{"role": "user", "content": asked}]}),
        "traceloop.entity.output": json.dumps({"messages": state}),
    }
    started = {"started_ns": START_NS + second * SECOND_NS}
    return span("workflow CompiledStateGraph", attributes=own, scope=JS, seconds=seconds, **started, **more)


def js_model(asked: str, second: int, **more: Any) -> Span:
    """A model call in a trace of its own: it lost the tool calls."""
    made = model_span(
        messages=[message("user", asked)], output=[message("assistant", "")], seconds=0.5,
        started_ns=START_NS + second * SECOND_NS, **more,
    )  # fmt: skip
    return replace(made, scope=JS)


def test_a_graph_of_langchain_js_has_the_whole_run() -> None:
    """The state holds the tools and signs the messages with the agent's name; nodes of the graph are nothing of their own."""
    node = {"traceloop.span.kind": "workflow", "traceloop.workflow.name": "RunnableSequence"}
    found = only(
        [graph("hi", "hello"), js_model("hi", 1), span("workflow RunnableSequence", attributes=node, scope=JS)]
    )
    assert (found.agent, found.asked, found.reply, len(found.model_calls)) == ("bob", "hi", "hello", 1)
    assert [(call.name, call.result) for call in found.tool_calls] == [("ask", "2")]


def test_model_calls_of_graphs_that_ran_at_once() -> None:
    """Each goes to the graph that was asked the same; where several were, it is nobody's, and no Interaction."""
    several = assemble([graph("a", "1"), graph("b", "2"), js_model("a", 1), js_model("b", 2)])
    assert [(found.asked, len(found.model_calls)) for found in several] == [("a", 1), ("b", 1)] or [
        (found.asked, len(found.model_calls)) for found in several
    ] == [("b", 1), ("a", 1)]
    same = assemble([graph("a", "1"), graph("a", "1"), js_model("a", 1)])
    assert [len(found.model_calls) for found in same] == [0, 0]


def test_spans_beside_a_graph_below_a_request() -> None:
    """Below an active span everything of LangChain.js is flat: model calls beside the graph are its own."""
    request = span("POST /chat", kind=2, seconds=11)
    below = {"trace_id": request.trace_id, "parent_id": request.span_id}
    found = only([request, graph("hi", "hello", **below), js_model("hi", 1, **below)])
    assert len(found.model_calls) == 1


def js_tool(call_id: str, result: str) -> Span:
    """The tool's span, in a trace of its own."""
    output = json.dumps(lc("ToolMessage", content=result, name="ask", tool_call_id=call_id))
    own = {"gen_ai.operation.name": "execute_tool", "traceloop.span.kind": "task", "traceloop.entity.output": output}
    return span(
        "execute_tool DynamicStructuredTool", attributes=own, scope=JS, seconds=4, started_ns=START_NS + 2 * SECOND_NS
    )


@pytest.mark.parametrize(("result", "nested"), [("inner reply", True), ("something else", False)])
def test_a_graph_inside_a_tool_of_another(result: str, nested: bool) -> None:
    """Time alone is no proof: the tool must have given back the inner graph's reply."""
    inner = graph("sub", "inner reply", agent="carol", second=3, seconds=2)
    found = assemble([graph("a", "1", result=result), js_tool("c-a", result), inner])
    assert [each.agent for each in found] == ["bob", "carol"]
    assert (found[1].parent_id == found[0].id) is nested


def node(new: list[dict[str, Any]], *, second: int, seconds: float) -> Span:
    """The graph of an agent that is a node of another graph: it is given that one's messages, with their ids."""
    given = [lc("HumanMessage", content="add it", id="h1"), lc("AIMessage", content="", name="boss", id="m1")]
    state = {"messages": [*given, *new]}
    made = graph("add it", "", second=second, seconds=seconds)
    own = {"traceloop.entity.input": json.dumps({"messages": given}), "traceloop.entity.output": json.dumps(state)}
    return replace(made, attributes={**made.attributes, **own})


def test_an_agent_that_is_a_node_of_anothers_graph() -> None:
    """It shares messages with the graph around it, and its own come after those that it was given."""
    added = lc("AIMessage", content="It is 3", name="adder", id="m2")
    outer, inner = node([added], second=0, seconds=10), node([added], second=2, seconds=3)
    stranger = graph("add it", "It is 3", agent="adder", second=2, seconds=3)
    found = {each.span_id: each for each in assemble([stranger, inner, outer])}
    assert (found[inner.span_id].agent, found[inner.span_id].reply) == ("adder", "It is 3")
    assert found[inner.span_id].parent_id == found[outer.span_id].id
    assert found[stranger.span_id].parent_id is None


def test_nodes_below_a_request_that_another_process_made() -> None:
    """Their parent is that request's, and no agent's that is lost, whatever they were given."""
    own = {
        "traceloop.span.kind": "workflow",
        "traceloop.workflow.name": "RunnableSequence",
        "traceloop.entity.input": json.dumps({"messages": [{"role": "user", "content": "hi"}]}),
    }
    step = span("workflow RunnableSequence", attributes=own, scope=JS, parent_id="00000000000000aa")
    assert assemble([step]) == ()
    assert not ties(observe(step))


def test_a_tools_span_in_a_trace_of_its_own() -> None:
    """It says whether the call failed, where the messages leave that to guesses, and belongs to the graph around it
    that asked."""
    said = "Error: 404 pages were seen 3 times"
    (asking, other) = assemble([graph("a", "1", result=said), graph("b", "2", second=1), js_tool("c-a", said)])
    assert [(call.name, call.result, call.error) for call in asking.tool_calls] == [("ask", said, None)]
    assert asking.tool_calls[0].span_id is not None
    assert [call.span_id for call in other.tool_calls] == [None]


def test_a_graph_is_tied_to_its_model_calls() -> None:
    """A live driver looks at them together."""
    assert ties(observe(graph("hi", "hello"))) & ties(observe(js_tool("c-hi", "2")))
    assert ties(observe(graph("hi", "hello"))) & ties(observe(js_model("hi", 1)))
    assert not ties(observe(graph("hi", "hello"))) & ties(observe(js_model("other", 1)))


def test_a_failed_graph_without_a_name() -> None:
    """The class's name is no agent's."""
    raised = SpanEvent("exception", 1, {"exception.type": "Error", "exception.message": "boom"})
    facts = facts_of(graph("hi", "", agent=None, status="error", events=(raised,)))
    assert isinstance(facts, Facts)
    assert (facts.kind, facts.agent, facts.weak_agent) == (Kind.AGENT, None, None)
    assert facts.failure is not None


@pytest.mark.parametrize(
    ("reason", "text", "empty", "lost"),
    [
        ("tool_call", "", True, True),
        ("tool_calls", "", True, True),
        ("stop", "", False, False),
        ("tool_call", "Let me look.", False, True),
    ],
)
def test_an_empty_text_in_place_of_tool_calls_is_no_answer(reason: str, text: str, empty: bool, lost: bool) -> None:
    """The JavaScript instrumentations drop the calls: what the model asked for is a gap, and the turn goes on."""
    said = {"gen_ai.response.finish_reasons": [reason]}
    call = model_span(messages=[message("user", "hi")], output=[message("assistant", text)], attributes=said)
    facts = facts_of(call)
    assert facts is not None
    assert (facts.output is None) is empty
    assert (only([call]).gap("tool_calls") is not None) is lost
