"""The kit that otel-eval is tested with, for its users' tests too: no model, no network beyond loopback, no sleeping.

What is exported here is imported when it is first used: builders of spans need no gRPC, a fixed answer needs no server.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_eval.testing.clock import ManualClock as ManualClock
    from otel_eval.testing.interactions import interaction as interaction
    from otel_eval.testing.models import fixed as fixed
    from otel_eval.testing.models import scripted as scripted
    from otel_eval.testing.otlp import otlp_logs_request as otlp_logs_request
    from otel_eval.testing.otlp import otlp_request as otlp_request
    from otel_eval.testing.scripted_model import ScriptedModel as ScriptedModel
    from otel_eval.testing.sending import send as send
    from otel_eval.testing.server import RunningServer as RunningServer
    from otel_eval.testing.server import running as running
    from otel_eval.testing.sink import Sink as Sink
    from otel_eval.testing.spans import agent_span as agent_span
    from otel_eval.testing.spans import conversation as conversation
    from otel_eval.testing.spans import log_record as log_record
    from otel_eval.testing.spans import model_span as model_span
    from otel_eval.testing.spans import span as span
    from otel_eval.testing.spans import tool_span as tool_span

_MODULES = {
    "clock": ("ManualClock",),
    "interactions": ("interaction",),
    "models": ("fixed", "scripted"),
    "otlp": ("otlp_logs_request", "otlp_request"),
    "scripted_model": ("ScriptedModel",),
    "sending": ("send",),
    "server": ("RunningServer", "running"),
    "sink": ("Sink",),
    "spans": ("agent_span", "conversation", "log_record", "model_span", "span", "tool_span"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
