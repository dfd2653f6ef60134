"""litellm's bookkeeping of a call, left out where nobody reads it.

After each answer litellm works out what it cost, twice, and writes a log entry of some eighty fields, whether or not
anybody registered a callback that would take it: 1.2 of the 4.4 ms of CPU that a call costs. Both are methods of the
call's logging object, and a caller may hand in one of its own, as litellm's router does. Ours does neither: costs by the
user's prices are worked out here (:mod:`otel_eval.judges.litellm_client`), and what was asked and answered is on the record.
It also sees a response before litellm reads it, and takes out what would make litellm refuse an answer for its bill.

Where somebody does listen, litellm is left to itself, and not even tried out, since its listeners would hear of a call that
nobody made; so it is where a trial call shows that this version of it does not take such an object.
"""

from __future__ import annotations

import asyncio
import datetime
import logging
import os
import types
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from otel_eval.judges.usage import leave_out_what_is_no_count

log = logging.getLogger(__name__)

_LISTENERS = (
    "callbacks", "input_callback", "success_callback", "failure_callback", "_async_input_callback",
    "_async_success_callback", "_async_failure_callback", "pre_call_rules", "post_call_rules", "custom_provider_map",
    "cache", "secret_manager_client", "max_budget", "set_verbose",
)  # fmt: skip
"""What of litellm's settings has it look at a call, show or keep it, or set something up before one."""

_OF_ONE_CALL = ("callbacks", "success_callback", "failure_callback", "logger_fn")
"""The same among the parameters of a single call."""


class _Silent(NamedTuple):
    """Makers of logging objects: one whose cost litellm works out as ever, and one of which nobody asks a cost."""

    priced: Callable[..., Any]
    unpriced: Callable[..., Any]


_silent: _Silent | None = None


def listened_to(litellm: Any) -> bool:
    """Whether a call would be noticed by anybody but its caller: by what is set, or by an instrumentation around it."""
    return any(getattr(litellm, name, None) for name in _LISTENERS) or _wrapped(litellm)


def try_out(litellm: Any, ask: Callable[[Mapping[str, Any]], None]) -> bool:
    """Whether this litellm takes our logging objects: ``ask`` makes a call with the parameters that it is given.

    Nothing is asked where somebody listens; then litellm keeps its books, also once nobody listens any more.
    """
    global _silent
    _silent = None
    try:
        makers = _made()
        for maker in makers:
            if listened_to(litellm):
                return False
            ask(_parameters(maker, {"model": "openai/none", "messages": []}))
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it saves time, and nothing else depends on it
        log.debug("litellm keeps its books, since it does not take ours: %s", error)
        return False
    _silent = makers
    return True


def silencing(litellm: Any, arguments: Mapping[str, Any], *, cost: bool) -> dict[str, Any]:
    """The parameters that keep litellm from logging this call, and, unless its ``cost`` is asked for, from pricing it.

    None of them where somebody listens.
    """
    if _silent is None or listened_to(litellm) or any(name in arguments for name in _OF_ONE_CALL):
        return {}
    return _parameters(_silent.priced if cost else _silent.unpriced, arguments)


def _parameters(maker: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    call_id = str(uuid.uuid4())
    made = maker(
        model=arguments["model"],
        messages=arguments["messages"],
        stream=False,
        call_type="acompletion",
        start_time=datetime.datetime.now(),
        litellm_call_id=call_id,
        function_id="",
        kwargs=dict(arguments),
    )
    return {"litellm_logging_obj": made, "litellm_call_id": call_id}


def _wrapped(litellm: Any) -> bool:
    """Whether calls go through somebody else's function: instrumentations put theirs in the place of litellm's."""
    call = litellm.acompletion
    if type(call) is not types.FunctionType:  # not isinstance, which the proxies of wrapt pass
        return True
    return not call.__code__.co_filename.startswith(os.path.dirname(litellm.__file__))


def _made() -> _Silent:
    from litellm.litellm_core_utils.litellm_logging import Logging

    class Unlogged(Logging):  # type: ignore[misc]
        def claim_async_success_log(self) -> bool:
            """Somebody else writes the entry."""
            return False

        def post_call(self, original_response: Any, *args: Any, **kwargs: Any) -> None:
            """Called with the response before litellm reads it."""
            leave_out_what_is_no_count(original_response)
            super().post_call(original_response, *args, **kwargs)

        async def async_success_handler(self, *args: Any, **kwargs: Any) -> None:
            """Where litellm does not ask the above: nothing is written."""

    class Unpriced(Unlogged):
        def response_cost_calculator(self, *args: Any, **kwargs: Any) -> None:
            """No cost is known to it."""

    return _Silent(priced=Unlogged, unpriced=Unpriced)
