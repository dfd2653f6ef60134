"""How the tests of this folder ask the scripted provider."""

from __future__ import annotations

import json
from collections.abc import Sequence

from otel_eval.judges import (
    JudgeModelSettings,
    ModelRequest,
)
from otel_eval.judges.prompts import VERDICT_SCHEMA
from otel_eval.testing.models import verdict
from otel_eval.testing.scripted_model import Garbage, ScriptedModel

KEY = "sk-" + "loopback" * 4
REQUEST = ModelRequest(
    model="m", system="s", user="u", conversation_id="c", schema=VERDICT_SCHEMA, headers={"baggage": "k=v"}
)


def settings(provider: ScriptedModel, **changes: object) -> JudgeModelSettings:
    arguments: dict[str, object] = {"model": "openai/scripted", "api_base": provider.base_url, "api_key": KEY}
    return JudgeModelSettings(**{**arguments, **changes})  # type: ignore[arg-type]


def completion(usage: object = None, choices: Sequence[object] | None = None) -> Garbage:
    """A completion as other servers send it, that of the scripted model being without fault. None leaves usage out."""
    message = {"role": "assistant", "content": verdict(0.9)}
    body: dict[str, object] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}] if choices is None else choices,
    }
    return Garbage(json.dumps(body if usage is None else {**body, "usage": usage}), "application/json")
