"""ChatGPT's data export: an array of conversations, each a `mapping` from id to node.

Exports differ by their year: `children`, `metadata` and `current_node` may be missing, messages
null, contents objects. A node's parent is the truth; `children` only order siblings. The head is
`current_node`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from conversation_service.domain.imports.chatgpt_content import content_of
from conversation_service.domain.imports.elements import Element, elements
from conversation_service.domain.imports.model import (
    MAX_JSON_BYTES,
    MAX_NODES,
    BadConversation,
    Conversation,
    Node,
    Warnings,
    key_of,
    title_of,
)
from conversation_service.domain.imports.text import TooLong
from conversation_service.domain.limits import INVALID, LIMIT, MAX_NAME, Refused, refuse
from conversation_service.domain.message_json import ROLES, message_of
from conversation_service.domain.provenance import TIME_KEY, untrusted
from kernel.strict_json import NotJson, dumps, loads
from kernel.tree.message import Message
from kernel.tree.model import Role

SOURCE = "import:chatgpt"
EXTENSION = "stemma"
_ROLES = ROLES | {"developer": Role.SYSTEM, "function": Role.TOOL}
_SHARD = re.compile(r"(?:.*/)?conversations[-_ ]?\(?(\d*)\)?\.json", re.IGNORECASE)


def pick(names: Sequence[str]) -> list[str]:
    """The conversations of an export's archive, shards by number; else the only JSON file."""
    shards = {name: match for name in names if (match := _SHARD.fullmatch(name))}
    if shards:
        return sorted(shards, key=lambda name: (int(shards[name][1][-18:] or 0), name))
    others = [name for name in names if name.lower().endswith(".json")]
    return others if len(others) == 1 else []


def read(chunks: Iterable[bytes], first: int = 0) -> Iterator[Conversation | BadConversation]:
    """The conversations of one file, numbered from `first`."""
    for index, element in enumerate(elements(chunks, MAX_JSON_BYTES), first):
        yield _conversation(index, element)


def _conversation(index: int, element: Element | TooLong) -> Conversation | BadConversation:
    title, warnings = f"conversation {index + 1}", Warnings()
    if isinstance(element, TooLong):
        message = f"The conversation is longer than {MAX_JSON_BYTES} bytes."
        return BadConversation(index, title, LIMIT, message)
    if element.cut:
        return BadConversation(index, title, INVALID, "The file ends in the middle.")
    try:
        value = loads(element.data, depth=element.depth)
        if not isinstance(value, dict):
            raise refuse("The conversation is not an object.")
        given = title_of(value.get("title"), warnings)
        title = given or title
        nodes = _nodes(value.get("mapping"), warnings)
        current = value.get("current_node")
        return Conversation(
            index,
            given,
            nodes,
            current if isinstance(current, str) else None,
            warnings.sentences(),
            SOURCE,
            sha256(element.data).digest(),
        )
    except NotJson as error:
        return BadConversation(index, title, error.reason, f"The conversation {error}.")
    except Refused as refused:
        return BadConversation(index, title, refused.reason, refused.message)


def _nodes(mapping: object, warnings: Warnings) -> tuple[Node, ...]:
    if not isinstance(mapping, dict):
        raise refuse("The conversation has no mapping.")
    if len(mapping) > MAX_NODES:
        raise Refused(LIMIT, f"The conversation has more than {MAX_NODES} messages.")
    places = _places(mapping)
    return tuple(_node(key, value, places, warnings) for key, value in mapping.items())


def _places(mapping: dict[str, Any]) -> dict[tuple[str, str], int]:
    """By parent and child, where the child stands among `children`."""
    places: dict[tuple[str, str], int] = {}
    for key, value in mapping.items():
        children = value.get("children") if isinstance(value, dict) else None
        for place, child in enumerate(children if isinstance(children, list) else []):
            if isinstance(child, str):
                places.setdefault((key, child), place)
    return places


def _node(key: str, value: object, places: dict[tuple[str, str], int], warnings: Warnings) -> Node:
    if value is None:
        return Node(key, None, None)
    if not isinstance(value, dict):
        raise refuse("A node of the mapping is not an object.")
    parent = key_of(value.get("parent"))
    rank = None if parent is None else places.get((parent, key))
    return Node(key, parent, _message(value.get("message"), warnings), rank)


def _message(value: object, warnings: Warnings) -> Message | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise refuse("A message is not an object.")
    extra = value.get("metadata")
    extra = extra if isinstance(extra, dict) else {}
    if EXTENSION in extra:
        return untrusted(message_of(extra[EXTENSION]))
    content = content_of(value.get("content"), warnings)
    if not content.parts:
        return None
    author = value.get("author")
    author = author if isinstance(author, dict) else {}
    name, speaker = author.get("role"), author.get("name")
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        raise refuse("A message has no role that is known.")
    metadata = content.metadata | _facts(value, extra)
    return untrusted(Message(role, content.parts, _name(speaker, warnings), metadata=metadata))


def _name(value: object, warnings: Warnings) -> str:
    if not isinstance(value, str):
        return ""
    if len(value) > MAX_NAME:
        warnings.add(f"A speaker's name is cut to {MAX_NAME} characters.")
    return value[:MAX_NAME]


def _facts(value: dict[str, Any], extra: dict[str, Any]) -> dict[str, str]:
    """What is worth keeping beside the text: when, by which model, to whom, and hidden from whom."""
    facts = {
        TIME_KEY: value.get("create_time"),
        "model": extra.get("model_slug"),
        "recipient": None if value.get("recipient") == "all" else value.get("recipient"),
        "weight": None if value.get("weight") == 1 else value.get("weight"),
        "visually_hidden": extra.get("is_visually_hidden_from_conversation") or None,
    }
    return {
        name: fact if isinstance(fact, str) else dumps(fact)
        for name, fact in facts.items()
        if fact is not None
    }
