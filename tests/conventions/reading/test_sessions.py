"""Ids of conversations and users, under whatever name, and what stands where there is none."""

from __future__ import annotations

from typing import Any

import pytest

from otel_eval.conventions.registry import facts_of
from otel_eval.testing.spans import span


def ids(**attributes: Any) -> tuple[str | None, str | None]:
    """The session and the user of an agent's span."""
    facts = facts_of(span("invoke_agent shop", attributes={"gen_ai.operation.name": "invoke_agent", **attributes}))
    assert facts is not None
    return facts.session, facts.user_id


@pytest.mark.parametrize("nothing", ["None", "null", "undefined", "nil", ""])
def test_what_languages_write_of_nothing_is_no_conversation(nothing: str) -> None:
    """Else all conversations without an id would be one; a less specific name may have one."""
    assert ids(**{"gen_ai.conversation.id": nothing, "user.id": nothing}) == (None, None)
    assert ids(**{"langfuse.session.id": nothing, "metadata.user_id": "ada"}) == (None, "ada")
    assert ids(**{"session.id": nothing, "metadata.session_id": "s1"}) == ("s1", None)


def test_an_id_as_rust_writes_what_may_be_none() -> None:
    """``{:?}`` of an Option; whatever else has brackets is an id."""
    assert ids(**{"gen_ai.conversation.id": 'Some("c1")', "user.id": 'Some("ada")'}) == ("c1", "ada")
    assert ids(**{"gen_ai.conversation.id": "Some(1)"}) == ("Some(1)", None)
