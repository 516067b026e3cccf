"""A session as a message log that says how it branched."""

from collections.abc import Iterator
from typing import Any

from conversation_service.domain.exports.model import ExportTree
from conversation_service.domain.exports.plain import extension, texts, time_of
from conversation_service.domain.exports.thread import Said, thread
from conversation_service.domain.message_json import ROLE_NAMES
from kernel.strict_json import dumps
from kernel.tree.model import Role

_INPUT = (Role.SYSTEM, Role.USER)


def write(tree: ExportTree) -> Iterator[bytes]:
    """One line a message, depth first: the first of siblings follows its parent, the others edit or
    regenerate it. A last line moves the head to where it is; a
    session without a message has only that line."""
    talk = thread(tree)
    first: dict[int | None, str] = {}
    last: int | None = None
    for number in talk.depth_first():
        said = talk.said[number]
        yield _line(_message(said) | _place(said, first.setdefault(said.parent, said.key)))
        last = number
    if last is None or last != talk.current:
        head = "" if talk.current is None else talk.said[talk.current].key
        yield _line({"id": "head", "rollback_to": head})


def _place(said: Said, first: str) -> dict[str, Any]:
    """Depth first, a first sibling comes right after its parent, which is the head then."""
    if first == said.key:
        return {}
    sibling = "edits" if said.message.role in _INPUT else "regenerates"
    return {sibling: first}


def _message(said: Said) -> dict[str, Any]:
    message, time = said.message, time_of(said.message)
    facts: dict[str, Any] = {
        "id": said.key,
        "role": ROLE_NAMES[message.role],
        "content": "".join(texts(message)),
    }
    if time:
        facts["time"] = time
    return facts | extension(message, parts=False, time=True)


def _line(value: dict[str, Any]) -> bytes:
    return dumps(value).encode() + b"\n"
