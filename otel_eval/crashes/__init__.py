"""Who is to blame when the process that judges dies: what was under way is noted where it outlives the process.

An evaluator of a user's, or a library below it, may end its process (``os._exit``, a segmentation fault, the kernel at the
memory limit). What was under way then is started again by the next process, which dies of it as well. So what is under way is
noted (``notes.py``); after each death the notes are counted (``suspects.py``); and what may have been the cause is done with
caution (``caution.py``): from its second death on with nothing beside it, after the fourth not again.

Whatever comes to its end is cleared of suspicion. See docs/decisions/crashes.md.
"""

from __future__ import annotations

from otel_eval.crashes.caution import Caution, DiedBefore
from otel_eval.crashes.suspects import DEATHS, Stock, disregard, take_stock
from otel_eval.crashes.work import Kind, owner_of

__all__ = ["DEATHS", "Caution", "DiedBefore", "Kind", "Stock", "disregard", "owner_of", "take_stock"]
