"""Messages that are numbered over many attributes, where an SDK's limit dropped some of those."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_eval.assemble.assembler import assemble
from otel_eval.interaction import GapKind
from otel_eval.signals import Resource, Scope
from otel_eval.testing.spans import span

TOLD = [{"role": "user", "content": "First?"}, {"role": "assistant", "content": "Yes."}]
LAST = {"role": "user", "content": "And now?"}
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    **{f"llm.input_messages.{n}.message.{key}": said[key] for n, said in enumerate(TOLD) for key in said},
}
OPENLLMETRY = {
    "gen_ai.request.model": "m",
    **{f"gen_ai.prompt.{n}.{key}": said[key] for n, said in enumerate(TOLD) for key in said},
}


@pytest.mark.parametrize("own", [OPENINFERENCE, OPENLLMETRY])
@pytest.mark.parametrize(
    ("language", "scope", "dropped", "asked"),
    [
        ("nodejs", "shop", 9, None),
        ("python", "@arizeai/openinference-instrumentation-openai", 9, None),
        ("python", "shop", 9, "First?"),
        ("nodejs", "shop", 0, "First?"),
    ],
)
def test_the_last_that_javascript_kept_is_not_what_was_asked(
    own: dict[str, Any], language: str, scope: str, dropped: int, asked: str | None
) -> None:
    """Its SDK drops what is set last; Python's what is set first."""
    resource = Resource({"telemetry.sdk.language": language})
    (found,) = assemble(
        [span("chat", attributes=own, dropped_attributes=dropped, scope=Scope(scope), resource=resource)]
    )
    assert found.asked == asked
    assert [gap.kind for gap in found.gaps if gap.field == "asked"] == ([GapKind.DROPPED] if dropped else [])


def test_the_whole_request_comes_before_what_is_left_of_it() -> None:
    """It stands in one attribute, set first: nothing of it is missing."""
    request = {"input.value": json.dumps({"model": "m", "messages": [*TOLD, LAST]})}
    (found,) = assemble(
        [
            span(
                "chat",
                attributes={**request, **OPENINFERENCE},
                dropped_attributes=9,
                resource=Resource({"telemetry.sdk.language": "nodejs"}),
            )
        ]
    )
    assert (found.asked, len(found.history)) == ("And now?", 2)
    assert "asked" not in {gap.field for gap in found.gaps}
