"""A session as one Open Assistant tree, on one line: see `imports.oasst` for what it adds."""

from collections.abc import Iterator
from typing import Any

from conversation_service.domain.exports.model import ExportTree
from conversation_service.domain.exports.plain import extension, texts, time_of
from conversation_service.domain.exports.thread import Said, Thread, thread
from conversation_service.domain.message_json import ROLE_NAMES
from kernel.strict_json import dumps
from kernel.tree.model import Role

_TOP = "root"
_ROLES = ROLE_NAMES | {Role.USER: "prompter"}


def write(tree: ExportTree) -> Iterator[bytes]:
    """The line in pieces, one a message. A session of several beginnings, or whose head is before
    the first, has an empty prompt above them."""
    talk = thread(tree)
    current = _TOP if talk.current is None else talk.said[talk.current].key
    facts = {
        "message_tree_id": tree.root_floor_id,
        "tree_state": "ready_for_export",
        "title": tree.title,
        "current_message_id": current,
    }
    yield f"{dumps(facts)[:-1]},".encode() + b'"prompt":'
    if len(talk.roots) == 1 and talk.current is not None:
        yield from _nested(talk, talk.roots[0])
    else:
        top = {"message_id": _TOP, "text": "", "role": "prompter"}
        yield f'{dumps(top)[:-1]},"replies":['.encode()
        for place, number in enumerate(talk.roots):
            yield b"," if place else b""
            yield from _nested(talk, number, rank=place, parent=_TOP)
        yield b"]}"
    yield b"}\n"


def _nested(talk: Thread, first: int, rank: int = 0, parent: str | None = None) -> Iterator[bytes]:
    """A message and its replies, without recursion: what waits is a message, or text that closes one."""
    waiting: list[tuple[int, int] | bytes] = [(first, rank)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, bytes):
            yield item
            continue
        number, place = item
        said = talk.said[number]
        above = parent if said.parent is None else talk.said[said.parent].key
        yield f'{dumps(_message(said, place, above))[:-1]},"replies":['.encode()
        waiting.append(b"]}")
        for place, child in reversed(list(enumerate(said.children))):
            waiting.append((child, place))
            if place:
                waiting.append(b",")


def _message(said: Said, rank: int, parent: str | None) -> dict[str, Any]:
    message, time = said.message, time_of(said.message)
    facts: dict[str, Any] = (
        {"message_id": said.key, "parent_id": parent} if parent else {"message_id": said.key}
    )
    facts |= {"text": "".join(texts(message)), "role": _ROLES[message.role], "rank": rank}
    if time:
        facts["created_date"] = time
    return facts | extension(message, parts=False, time=True)
