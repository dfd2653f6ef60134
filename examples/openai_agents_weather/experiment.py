"""Judged by what the agent logged: question, tools and reply are on no span."""

from __future__ import annotations

import sys

from agent import ask

from otel_eval import EvalCase, Experiment, reply_should_contain, should_call_tool, should_call_tool_with
from otel_eval.testing.scripted_model import Answer, ModelRequest, ScriptedModel


def think(request: ModelRequest) -> Answer:
    """Stands for a model: asks for the weather, then tells it."""
    results = [message["content"] for message in request.body["messages"] if message["role"] == "tool"]
    if results:
        return Answer(text=f"The weather in {results[-1]}.")
    call = {"id": "call_1", "type": "function", "function": {"name": "getWeather", "arguments": '{"city": "Lisbon"}'}}
    return Answer(tool_calls=(call,), finish_reason="tool_calls")


def main() -> int:
    with ScriptedModel(think) as model:
        report = Experiment(
            name="weather",
            cases=[EvalCase("lisbon", "What is the weather in Lisbon?", reply_should_contain("21 degrees", "Lisbon"))],
            agent=lambda command: ask(command, model.base_url),
            evaluators=[should_call_tool("getWeather"), should_call_tool_with("getWeather", "city", "Lisbon")],
            repeat=2,
            concurrency=2,
        ).run()
    print(report.render())
    for attempt in report.attempts:
        if attempt.interaction is not None:
            print(f"run {attempt.run}: {attempt.interaction.agent} was asked {attempt.interaction.asked!r}")
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
