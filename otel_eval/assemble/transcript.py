"""What was asked and replied in one turn, read out of messages that hold a whole conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_eval.conventions.reading.messages import asks, results_in, unanswered
from otel_eval.conventions.reading.placeholders import is_placeholder
from otel_eval.frozen import changed
from otel_eval.interaction import Attachment, Message, ToolResultPart


def asked_at(messages: Sequence[Message], new_from: int | None = None, asked: str | None = None) -> int | None:
    """Where in a model's input this turn's user message stands; None where it is not there.

    That is the message which says ``asked``, if that is known and there (the last one that does), else the last one in
    which a user speaks, at or after ``new_from``.
    """
    if asked is not None and (index := said_at(messages, asked)) is not None:
        return index
    start = new_from or 0
    return next((index for index in range(len(messages) - 1, start - 1, -1) if asks(messages[index])), None)


def said_at(messages: Sequence[Message], asked: str) -> int | None:
    """Where the user says that, the last time; None where nobody does."""
    wanted = asked.strip()
    for at in range(len(messages) - 1, -1, -1):
        if asks(messages[at]) and (said := messages[at].text) is not None and said.strip() == wanted:
            return at
    return None


def turn_of(messages: Sequence[Message], asked: str | None = None) -> Sequence[Message]:
    """The messages after this turn's user message; all of them where nobody asks in them."""
    index = asked_at(messages, asked=asked)
    return messages if index is None else messages[index + 1 :]


def reply_in(messages: Sequence[Message]) -> str | None:
    """The last text of the assistant in a run's output, whatever else that message carries; None where it is hidden."""
    for message in reversed(turn_of(messages)):
        if message.role == "assistant" and message.text is not None:
            return shown(message.text)
    return None


def answer_in(output: Sequence[Message]) -> str | None:
    """The text of a model's answer that asks for no tool, a placeholder where it is hidden; None where there is none.

    Several messages that follow one another are pieces of one answer. What stands before results of tools went before: a
    client that calls them itself puts out all that it went through, and a provider's own tools run within one message.
    """
    at = _answered_at(output)
    before, said = output[max(at - 1, 0) : at], output[at:]
    if unanswered((*before, *said)):
        return None
    pieces = [_after_results(message) for message in before] + list(said)
    texts = [message.text for message in pieces if message.role == "assistant" and message.text is not None]
    if not texts:
        texts = [message.text for message in before if message.role == "assistant" and message.text is not None]
    return "\n".join(texts) if texts else None


def _answered_at(output: Sequence[Message]) -> int:
    """Where the last results of tools end; 0 where there are none."""
    return next((index for index in range(len(output), 0, -1) if results_in(output[index - 1])), 0)


def _after_results(message: Message) -> Message:
    last = max(index for index, part in enumerate(message.parts) if isinstance(part, ToolResultPart))
    return changed(message, parts=message.parts[last + 1 :])


def shown(text: str | None) -> str | None:
    """The text, unless it is a placeholder, or several: one for each part."""
    return None if text is not None and _is_hidden(text) else text


def _is_hidden(text: str) -> bool:
    return is_placeholder(text) or (
        "\n" in text and is_placeholder(text.partition("\n")[0]) and all(map(is_placeholder, text.split("\n")))
    )


def system_in(messages: Iterable[Message]) -> str | None:
    """The leading system messages of a model's input."""
    texts: list[str] = []
    for message in messages:
        if message.role != "system":
            break
        if said := shown(message.text):
            texts.append(said)
    return "\n".join(texts) if texts else None


def history_before(messages: Sequence[Message], index: int) -> tuple[Message, ...]:
    """The earlier turns: what stands before this turn's message, without system messages."""
    return tuple(message for message in messages[:index] if message.role != "system")


def attachments_in(message: Message) -> tuple[Attachment, ...]:
    """What the user sent along."""
    return tuple(part for part in message.parts if isinstance(part, Attachment))
