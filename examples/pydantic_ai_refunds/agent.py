"""A refund agent on pydantic-ai. Its scripted model is right three times out of four."""

from __future__ import annotations

import itertools

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

Agent.instrument_all()  # spans to the global tracer provider, as in production

_runs = itertools.count(1)


def think(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stands for a model: looks the order up, refunds what it cost, tells the customer.

    The flaw: every fourth run it is in a hurry, and refunds what such things usually cost.
    """
    done = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    if not done:
        hurried = next(_runs) % 4 == 0
        if not hurried:
            return ModelResponse(parts=[ToolCallPart("getOrder", {"orderId": "o_9"})])
        return ModelResponse(parts=[ToolCallPart("issueRefund", {"orderId": "o_9", "amountCents": 5999})])
    last = done[-1]
    if last.tool_name == "getOrder":
        cents = last.content["totalCents"]
        return ModelResponse(parts=[ToolCallPart("issueRefund", {"orderId": "o_9", "amountCents": cents})])
    amount = last.content["amountCents"] / 100
    return ModelResponse(
        parts=[TextPart(f"I am sorry that it arrived broken. I have refunded {amount:.2f} to your card.")]
    )


agent = Agent(FunctionModel(think, model_name="scripted"), name="refund-agent", instructions="You handle refunds.")


@agent.tool_plain(name="getOrder")
def get_order(orderId: str) -> dict[str, object]:
    """An order by its id."""
    return {"id": orderId, "status": "delivered", "totalCents": 4999}


@agent.tool_plain(name="issueRefund")
def issue_refund(orderId: str, amountCents: int) -> dict[str, object]:
    """Pay money back."""
    return {"orderId": orderId, "amountCents": amountCents, "reference": "ref_1"}
