"""What tests of the formats share: reading, encoding, and the paths of files, plans and sessions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conversation_service.domain.exports.model import ExportTree
from conversation_service.domain.imports import read as reading
from conversation_service.domain.imports.model import (
    BEGINNING,
    BadConversation,
    Conversation,
    NativeConversation,
    Node,
    PlannedTree,
)
from conversation_service.domain.provenance import SOURCE_KEY
from kernel.tree.message import Message, Text
from kernel.tree.model import FloorState, Role
from kernel.wire.codec import WireCodec

Said = tuple[Role, object, str, bool, tuple[tuple[str, str], ...]]
Path = tuple[Said, ...]


def encode(messages: Sequence[Message]) -> bytes:
    return WireCodec().page(messages).blob


def pieces(data: bytes, size: int = 65_536) -> Iterator[bytes]:
    for begin in range(0, len(data), size):
        yield data[begin : begin + size]


def found(
    format: str, data: bytes | Iterable[bytes], file_name: str = ""
) -> list[Conversation | NativeConversation | BadConversation]:
    chunks = pieces(data) if isinstance(data, bytes) else data
    return list(reading.read(format, chunks, encode, file_name))


def plans(
    format: str, data: bytes | Iterable[bytes]
) -> list[PlannedTree | NativeConversation | BadConversation]:
    return list(reading.plans(format, pieces(data) if isinstance(data, bytes) else data, encode))


def planned(format: str, data: bytes) -> PlannedTree:
    """The file's one conversation, which must be good."""
    (tree,) = plans(format, data)
    assert isinstance(tree, PlannedTree), tree
    return tree


def bad(format: str, data: bytes) -> BadConversation:
    """The file's one conversation, which must be bad."""
    (tree,) = plans(format, data)
    assert isinstance(tree, BadConversation), tree
    return tree


def said(message: Message) -> Said:
    """The message without its provenance."""
    metadata = {key: value for key, value in message.metadata.items() if key != SOURCE_KEY}
    return message.role, message.parts, message.name, message.hidden, tuple(sorted(metadata.items()))


def spoken(message: Message) -> tuple[str, str]:
    return message.role.name.lower(), message.text


def plan_paths(tree: PlannedTree) -> Counter[tuple[Message, ...]]:
    """Root-to-leaf messages of the planned floors, checked on the way to be a tree in order."""
    paths: list[tuple[Message, ...]] = []
    inner: set[int] = set()
    for floor in tree.floors:
        assert floor.index == len(paths)
        assert floor.input or floor.output
        above: tuple[Message, ...] = ()
        if floor.parent_index is not None:
            assert floor.parent_index < floor.index
            above = paths[floor.parent_index]
            inner.add(floor.parent_index)
        if floor.shares_input_of is not None:
            shared = tree.floors[floor.shares_input_of]
            assert shared.parent_index == floor.parent_index
            assert shared.input == floor.input
        paths.append((*above, *(floor.input or ()), *(floor.output or ())))
    return counted(path for index, path in enumerate(paths) if index not in inner)


def counted(paths: Iterable[Sequence[Message]]) -> Counter[Any]:
    return Counter(tuple(said(message) for message in path) for path in paths)


def node_paths(nodes: Sequence[Node]) -> list[list[Message]]:
    """A file's root-to-leaf messages by the definition, from the leaves up: no code in common with
    what is tested."""
    by_key = {one.key: one for one in nodes}
    paths = [_kept(by_key, one.key) for one in nodes if one.message]
    inner = {above.key for path in paths for above in path[:-1]}
    return [[one.message for one in path if one.message] for path in paths if path[-1].key not in inner]


def node_path(nodes: Sequence[Node], key: str) -> list[Message] | None:
    """The messages from the beginning to a node; None when the key is no node's."""
    if key == BEGINNING:
        return []
    by_key = {one.key: one for one in nodes}
    if key not in by_key:
        return None
    return [one.message for one in _kept(by_key, key) if one.message]


def _kept(by_key: Mapping[str, Node], key: str | None) -> list[Node]:
    path: list[Node] = []
    while key is not None and key in by_key:
        path.append(by_key[key])
        assert len(path) <= len(by_key), "a cycle was accepted"
        key = by_key[key].parent_key
    return [one for one in reversed(path) if one.message]


def plan_head(tree: PlannedTree) -> list[Message]:
    """The messages of the path to the head."""
    held: list[Message] = []
    at = tree.head
    while at is not None:
        floor = tree.floors[at]
        held += reversed([*(floor.input or ()), *(floor.output or ())])
        at = floor.parent_index
    return held[::-1]


def head_texts(tree: PlannedTree) -> list[str]:
    return [message.text for message in plan_head(tree)]


def path_texts(tree: PlannedTree) -> list[tuple[str, ...]]:
    """Root-to-leaf texts, sorted."""
    return sorted(
        tuple("".join(part.text for part in one[1] if isinstance(part, Text)) for one in path)
        for path in plan_paths(tree).elements()
    )


def session_paths(tree: ExportTree) -> Counter[Any]:
    """Root-to-leaf messages of a session's committed floors."""
    above: dict[str, tuple[Message, ...]] = {tree.root_floor_id: ()}
    inner: set[str] = set()
    for floor in tree.floors:
        if floor.state is FloorState.COMMITTED:
            own = [message for page in (floor.input, floor.output) if page for message in page.messages]
            above[floor.floor_id] = (*above[floor.parent_floor_id], *own)
            inner.add(floor.parent_floor_id)
    return counted(path for floor_id, path in above.items() if floor_id not in inner)


def session_head(tree: ExportTree) -> list[Message]:
    by_id = {floor.floor_id: floor for floor in tree.floors}
    held: list[Message] = []
    at = tree.main.head_floor_id
    while at != tree.root_floor_id:
        floor = by_id[at]
        held[:0] = [message for page in (floor.input, floor.output) if page for message in page.messages]
        at = floor.parent_floor_id
    return held


def without_provenance(messages: Iterable[Message]) -> list[Message]:
    return [
        replace(message, metadata={k: v for k, v in message.metadata.items() if k != SOURCE_KEY})
        for message in messages
    ]


def chatgpt_node(
    key: str, parent: str | None, role: str = "user", text: str | None = None, **more: Any
) -> dict[str, Any]:
    """A node with a text (the key itself by default); `more` replaces members of the message."""
    message: dict[str, Any] = {
        "id": key,
        "author": {"role": role},
        "create_time": 1_700_000_000.25,
        "content": {"content_type": "text", "parts": [key if text is None else text]},
        "metadata": {},
    }
    return {"id": key, "message": message | more, "parent": parent, "children": []}


def chatgpt_conversation(*nodes: Mapping[str, Any], current: str | None, title: str = "T") -> dict[str, Any]:
    """With the empty first node that exports have, as `top`."""
    top = {"id": "top", "message": None, "parent": None, "children": []}
    mapping = {node["id"]: node for node in (top, *nodes)}
    return {"title": title, "mapping": mapping, "current_node": current}
