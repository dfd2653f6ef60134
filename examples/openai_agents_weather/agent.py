"""A weather agent on the OpenAI Agents SDK, instrumented so that its messages come as log records, not on spans."""

from __future__ import annotations

import os

os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "EVENT_ONLY"
os.environ["OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT"] = "true"

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_trace_processors
from openai import AsyncOpenAI
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.instrumentation.genai.openai_agents import OpenAIAgentsInstrumentor

set_trace_processors([])  # the SDK's own exporter would send traces to its vendor
OpenAIInstrumentor().instrument()
OpenAIAgentsInstrumentor().instrument()


@function_tool(name_override="getWeather")
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 21 degrees and sunny"


async def ask(command: str, base_url: str) -> str:
    """One run of the agent against a model at that address."""
    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:
        model = OpenAIChatCompletionsModel("scripted", openai_client=client)
        agent = Agent(name="weather-agent", instructions="You know the weather.", model=model, tools=[get_weather])
        return str((await Runner.run(agent, f"A customer writes: {command}")).final_output)
