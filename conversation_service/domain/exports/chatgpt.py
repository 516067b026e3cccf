"""A session as a ChatGPT data export: an array of one conversation."""

from collections.abc import Iterator
from typing import Any

from conversation_service.domain.exports.model import ExportTree
from conversation_service.domain.exports.plain import extension, texts, time_of
from conversation_service.domain.exports.thread import Said, Thread, thread
from conversation_service.domain.message_json import ROLE_NAMES
from kernel.strict_json import NotJson, dumps, loads
from kernel.tree.message import Message
from kernel.tree.model import Role

_TOP = "root"


def write(tree: ExportTree) -> Iterator[bytes]:
    """In pieces, one a node. The first node is empty, as in the original."""
    talk = thread(tree)
    facts = {
        "title": tree.title,
        "conversation_id": tree.root_floor_id,
        "current_node": _TOP if talk.current is None else talk.said[talk.current].key,
    }
    yield f'[{dumps(facts)[:-1]},"mapping":{{'.encode()
    tops = [talk.said[number].key for number in talk.roots]
    yield f"{dumps(_TOP)}:{dumps({'id': _TOP, 'message': None, 'parent': None, 'children': tops})}".encode()
    for number in talk.depth_first():
        said = talk.said[number]
        yield f",{dumps(said.key)}:{dumps(_node(talk, said))}".encode()
    yield b"}}]\n"


def _node(talk: Thread, said: Said) -> dict[str, Any]:
    return {
        "id": said.key,
        "message": _message(said),
        "parent": _TOP if said.parent is None else talk.said[said.parent].key,
        "children": [talk.said[child].key for child in said.children],
    }


def _message(said: Said) -> dict[str, Any]:
    message = said.message
    time = _number(time_of(message))
    named = {"name": message.name} if message.role is Role.TOOL and message.name else {}
    return {
        "id": said.key,
        "author": {"role": ROLE_NAMES[message.role], **named},
        "create_time": time,
        "content": {"content_type": "text", "parts": texts(message)},
        "status": "finished_successfully",
        "metadata": extension(message, parts=True, time=_says(message, time)),
    }


def _says(message: Message, time: int | float | None) -> bool:
    """Whether the time, read again, is the same text."""
    stated = time_of(message)
    return not stated if time is None else dumps(time) == stated


def _number(text: str) -> int | float | None:
    try:
        value = loads(text) if text else None
    except NotJson:
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
