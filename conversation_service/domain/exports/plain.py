"""What other formats can say of a message: who, and what text. The rest goes beside it in full."""

from typing import Any

from conversation_service.domain.message_json import message_json
from conversation_service.domain.provenance import SOURCE_KEY, TIME_KEY, UNTRUSTED
from kernel.tree.message import Message, Text

EXTENSION = "stemma"


def texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Text)]


def time_of(message: Message) -> str:
    return message.metadata.get(TIME_KEY, "")


def extension(message: Message, *, parts: bool, time: bool) -> dict[str, Any]:
    """`{"stemma": the message in full}`, or nothing when the format loses nothing of it.

    `parts`: the format keeps several texts apart; `time`: it can say this message's time.
    """
    known = {SOURCE_KEY, TIME_KEY} if time else {SOURCE_KEY}
    plain = (
        all(isinstance(part, Text) and part.text for part in message.parts)
        and (parts or len(message.parts) == 1)
        and not message.name
        and not message.hidden
        and message.metadata.keys() <= known
        and message.metadata.get(SOURCE_KEY, UNTRUSTED) == UNTRUSTED
        and message.metadata.get(TIME_KEY) != ""
    )
    return {} if plain else {EXTENSION: message_json(message)}
