"""litellm takes seconds to import and would fetch a price list from the internet.

It is imported when a model is first asked, in a thread, with its own copy of the list, its telemetry off and its logging
quieted: what it says of each call is not for the reader of our log, while its errors, a broken callback's too, are.

Its first call imports some forty modules more, for most of a second; that is made here too, with an answer that is
given to it, so that it does not hold the event loop. Where anything of the user's would notice that call it is not made.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import warnings
from collections.abc import Mapping
from typing import Any

from otel_eval.judges import litellm_bookkeeping
from otel_eval.judges.prices import known_prices

_importing = threading.Lock()
_ready: Any = None
_GIVEN = "{}"


async def imported() -> Any:
    """litellm, ready to be asked."""
    return _ready if _ready is not None else await asyncio.to_thread(load)


def load() -> Any:
    """litellm, imported once. Blocks. A setting that the user made in the environment stays."""
    global _ready
    with _importing:
        if _ready is None:
            _ready = _imported()
        return _ready


def _imported() -> Any:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "True")
    # A call that is cancelled at its very start leaves one of litellm's own coroutines behind; nobody could act on that.
    warnings.filterwarnings("ignore", r"coroutine '\w+\.acompletion' was never awaited", RuntimeWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pydantic, about litellm's own types: nothing that a user could act on
        import litellm

        _quiet()
        litellm.telemetry = False
        litellm.suppress_debug_info = True
        known_prices("")  # reads the list, which takes a moment
        litellm_bookkeeping.try_out(litellm, lambda parameters: _ask(litellm, parameters))
    return litellm


def _quiet() -> None:
    """Only errors of litellm's are logged, unless somebody chose a level for it."""
    if "LITELLM_LOG" in os.environ:
        return
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.ERROR)


def _ask(litellm: Any, parameters: Mapping[str, Any]) -> None:
    """A call that reaches nobody: its answer is given to it. Raises ValueError where it comes back as another."""
    nothing = [{"role": "user", "content": ""}]
    call = litellm.acompletion(
        model="openai/none", api_key="none", messages=nothing, mock_response=_GIVEN, num_retries=0, **parameters
    )
    if asyncio.run(call).choices[0].message.content != _GIVEN:
        raise ValueError("litellm gave another answer than the one that it was given")
