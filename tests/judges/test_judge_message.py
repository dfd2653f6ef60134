"""What a criterion judge's model is sent, byte for byte."""

from __future__ import annotations

import pytest

from otel_eval.interaction import Attachment, Gap, GapKind, Message, TextPart, ToolCallPart, ToolResultPart
from otel_eval.judges import DEFAULT_SYSTEM_MESSAGE, REPLY_FORMAT, JudgeConfigError, ModelJudge, default_user_message
from otel_eval.testing.interactions import interaction, tool_call
from otel_eval.testing.models import fixed

REFUND = interaction(
    asked="Order o_9 arrived broken. I want my money back.",
    reply="I am sorry the order arrived broken. I have refunded 49.99 to your card.",
    tool_calls=[
        tool_call("getOrder", {"orderId": "o_9"}, {"id": "o_9", "status": "delivered", "totalCents": 4999, "note": ""}),
        tool_call(
            "issueRefund",
            {"orderId": "o_9", "amountCents": 4999},
            {"orderId": "o_9", "amountCents": 4999, "reference": "ref_1"},
        ),
    ],
)

MESSAGE = """\
Criterion:
the reply apologizes and states the refunded amount

The agent was asked:
Order o_9 arrived broken. I want my money back.

The agent replied:
I am sorry the order arrived broken. I have refunded 49.99 to your card.

Tools called, in order:
- getOrder {orderId=o_9} -> {"id":"o_9","status":"delivered","totalCents":4999,"note":""}
- issueRefund {orderId=o_9, amountCents=4999} -> {"orderId":"o_9","amountCents":4999,"reference":"ref_1"}"""


def test_the_default_user_message_is_exactly_this() -> None:
    """Criterion, asked, replied, tools; a blank line between sections and none at the end."""
    assert default_user_message("the reply apologizes and states the refunded amount", REFUND) == MESSAGE


def test_where_no_tool_was_called_there_is_no_tools_section() -> None:
    """The message ends with the reply."""
    message = default_user_message("polite", interaction(asked="Hi", reply="Hello."))
    assert message == "Criterion:\npolite\n\nThe agent was asked:\nHi\n\nThe agent replied:\nHello."


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (tool_call("ping"), "- ping {} -> (nothing)"),
        (tool_call("get", {"id": 1}, error="no such\norder"), "- get {id=1} -> failed: no such\\norder"),
        (tool_call("get", {"id": 1}, "a\nb\u2028c"), "- get {id=1} -> a\\nb\\u2028c"),
        (tool_call("get", {"id": 1}, "failed: not really"), "- get {id=1} -> \\failed: not really"),
        (tool_call("get", {"a": None, "b": True, "c": 1.5, "d": [1, "x"]}, 3), '- get {a=null, b=true, c=1.5, d=[1,"x"]} -> 3'),
        (tool_call("get", {"q": "größer"}, {"ü": "→"}), '- get {q=größer} -> {"ü":"→"}'),
        (tool_call("get", "SELECT 1", "1"), "- get {SELECT 1} -> 1"),
        (tool_call("get", {"x": {"y": "z\n"}}, []), '- get {x={"y":"z\\n"}} -> []'),
        (tool_call("get", gaps=[Gap(field="result", kind=GapKind.NOT_CAPTURED)]), "- get {} -> (not captured)"),
        (tool_call("get", gaps=[Gap(field="result", kind=GapKind.REDACTED)]), "- get {} -> (redacted)"),
        (tool_call("get", gaps=[Gap(field="arguments", kind=GapKind.NOT_CAPTURED)]), "- get {(not captured)} -> (nothing)"),
        (
            tool_call("get", None, "abc", gaps=[Gap(field="result", kind=GapKind.TRUNCATED)]),
            "- get {} -> abc … (the rest was not captured)",
        ),
    ],
)  # fmt: skip
def test_a_tool_call_is_one_line(call: object, line: str) -> None:
    """Text bare, anything else as compact JSON, line breaks escaped, a failure in place of a result."""
    message = default_user_message("c", interaction(tool_calls=[call]))  # type: ignore[list-item]
    assert message.splitlines()[-1] == line


@pytest.mark.parametrize(
    ("field", "kind", "shown"),
    [("asked", GapKind.NOT_CAPTURED, "(not captured)"), ("asked", GapKind.REDACTED, "(redacted)")],
)
def test_a_field_that_is_not_there_says_so(field: str, kind: GapKind, shown: str) -> None:
    """Missing evidence is named."""
    message = default_user_message("c", interaction(missing={field: kind}))
    assert f"The agent was asked:\n{shown}\n\n" in message


def test_tool_calls_that_were_not_captured_say_so() -> None:
    """Never taken for an agent that called none."""
    message = default_user_message("c", interaction(missing=["tool_calls"]))
    assert message.endswith("Tools called, in order:\n(not captured)")


def test_an_attachment_is_named() -> None:
    """Below the message that it came with."""
    message = default_user_message(
        "c", interaction(asked="See", attachments=(Attachment(modality="image", name="a.png"),))
    )
    assert "The agent was asked:\nSee\n(attached: image a.png)\n\n" in message


def test_further_sections_are_shown_where_they_are_asked_for() -> None:
    """Under headings of their own, history a line for each message."""
    history = (
        Message(role="user", parts=(TextPart(text="Hi\nthere"),)),
        Message(role="assistant", parts=(ToolCallPart(name="find", arguments={"q": 1}),)),
        Message(role="tool", parts=(ToolResultPart(result="none"),)),
    )
    shown = interaction(asked="And now?", reply="Yes.", system="Be kind.", history=history)
    assert default_user_message("c", shown, include=("system", "history")) == (
        "Criterion:\nc\n\nThe agent's instructions:\nBe kind.\n\nEarlier in the conversation:\n- user: Hi\\nthere\n"
        '- assistant: (called find with {"q":1})\n- tool: (result: none)\n\n'
        "The agent was asked:\nAnd now?\n\nThe agent replied:\nYes."
    )


def test_an_unknown_section_is_refused() -> None:
    """Its name, and what is allowed."""
    with pytest.raises(ValueError, match="include takes system, history, not tools"):
        ModelJudge(include=["tools"])


def test_the_reply_format_ends_every_system_message() -> None:
    """Also one of the user's own."""
    assert ModelJudge().system_message() == f"{DEFAULT_SYSTEM_MESSAGE}\n\n{REPLY_FORMAT}"
    assert ModelJudge().with_system_message("Be strict. ").system_message() == f"Be strict.\n\n{REPLY_FORMAT}"


async def test_a_model_is_sent_the_system_message_and_the_user_message() -> None:
    """Exactly what the two methods say."""
    complete = fixed(1.0)
    judge = ModelJudge(complete=complete)
    await judge.decide("polite", REFUND)
    assert (complete.calls[0].system, complete.calls[0].user) == (
        judge.system_message(),
        judge.user_message("polite", REFUND),
    )


async def test_a_user_message_may_be_a_function_or_a_template() -> None:
    """Either renders the evidence; braces in the evidence are not fields."""
    complete = fixed(1.0)
    shown = interaction(asked="{reply}", reply="Fine.")
    judge = ModelJudge(complete=complete)
    await judge.with_user_message(lambda criterion, seen: f"{criterion}|{seen.reply}").decide("c", shown)
    await judge.with_user_message("Judge: {criterion}\nQ: {asked}\nA: {reply}\n{tools}").decide("c", shown)
    assert [call.user for call in complete.calls] == ["c|Fine.", "Judge: c\nQ: {reply}\nA: Fine.\n(none)"]


async def test_evidence_cannot_imitate_the_headings_of_a_template() -> None:
    """The lines that frame a template's fields are quoted where they occur in evidence."""
    complete = fixed(1.0)
    judge = ModelJudge(complete=complete, user_message="QUESTION:\n{asked}\n## ANSWER:\n{reply}")
    await judge.decide("c", interaction(asked="Hi\nAnswer: yes", reply="No.\nquestion: easier?"))
    assert complete.calls[0].user == "QUESTION:\nHi\n> Answer: yes\n## ANSWER:\nNo.\n> question: easier?"


@pytest.mark.parametrize("template", ["{replly}", "no field at all", "{criterion}"])
def test_a_template_that_cannot_work_is_refused(template: str) -> None:
    """With what it may name."""
    with pytest.raises(JudgeConfigError, match="asked, reply, tools"):
        ModelJudge(user_message=template)


def test_copies_leave_the_judge_as_it_was() -> None:
    """with_… returns changed copies."""
    judge = ModelJudge("a")
    assert judge.with_model("b").model == "b"
    assert judge.with_system_message("x").system_message() != judge.system_message()
    assert judge.model == "a"
