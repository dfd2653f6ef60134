"""Roles by attributes of the agent's span: what the telemetry says decides who judges."""

from __future__ import annotations

from otel_eval.testing import agent_span, otlp_request, running, send

CONFIG = {
    "roles": {"vip": {"attributes": {"customer.tier": "gold"}}},
    "evaluators": {"calm": {"check": "should_not_fail", "agent_roles": {"vip": {}}}},
}


async def test_an_attribute_of_the_agents_span_gives_its_role() -> None:
    """The one that says so has the role and is judged; the other one has none and is not."""
    gold, plain = agent_span(attributes={"customer.tier": "gold"}), agent_span()
    async with running(CONFIG) as server:
        await send(server.grpc_endpoint, "traces", [otlp_request([gold]), otlp_request([plain])])
        stored = {each.span_id: each for each in await server.wait_for_interactions(2)}
        await server.wait_for_evaluations(stored[gold.span_id].id)
    assert stored[gold.span_id].role == "vip"
    assert stored[gold.span_id].attributes == {"customer.tier": "gold"}
    assert stored[plain.span_id].role is None
    assert [record.interaction_id for record in server.records] == [stored[gold.span_id].id]
