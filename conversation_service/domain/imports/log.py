"""A plain message log, read as the tree it always was.

One conversation a file; lines of {id, role, content, time, and at most one of parent, edits,
regenerates, rollback_to}. In the order of the lines there is a head: a line follows it and becomes
it. `parent` follows the named line instead; `edits` and `regenerates` stand beside the named line,
with its parent; `rollback_to` moves the head to the named line first, and needs no content. An
empty `parent` or `rollback_to` is the beginning. Null is the same as nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from conversation_service.domain.imports.chatgpt_content import content_of
from conversation_service.domain.imports.log_cost import log_tokens
from conversation_service.domain.imports.model import (
    BEGINNING,
    MAX_CONVERSATION_BYTES,
    MAX_JSON_BYTES,
    MAX_NODES,
    BadConversation,
    Conversation,
    Node,
    Warnings,
    key_of,
)
from conversation_service.domain.imports.text import TooLong, lines
from conversation_service.domain.limits import LIMIT, MAX_NAME, MAX_TITLE, Refused, refuse
from conversation_service.domain.message_json import ROLES, message_of
from conversation_service.domain.provenance import TIME_KEY, untrusted
from kernel.strict_json import NotJson, dumps, loads
from kernel.tree.message import Message
from kernel.tree.model import Role

SOURCE = "import:log-jsonl"
EXTENSION = "stemma"
_ROLES = ROLES | {"developer": Role.SYSTEM, "function": Role.TOOL}
_REFERENCES = ("parent", "edits", "regenerates", "rollback_to")


def read(
    chunks: Iterable[bytes], index: int = 0, file_name: str = ""
) -> Iterator[Conversation | BadConversation]:
    """The file's one conversation, titled by the file's name; none when it has no lines."""
    log, title = _Log(), _title(file_name)
    number = 0
    try:
        for at, line in lines(chunks, MAX_JSON_BYTES):
            number = at
            log.add(line)
        nodes = log.resolved()
    except NotJson as error:
        yield BadConversation(index, title, error.reason, f"Line {number} {error}.")
        return
    except Refused as refused:
        yield BadConversation(index, title, refused.reason, f"Line {number}: {refused.message}")
        return
    if not number:
        return
    yield Conversation(
        index,
        title,
        nodes,
        log.head,
        log.warnings.sentences(),
        SOURCE,
        log.sha.digest(),
        log_tokens(nodes, log.head),
    )


def _title(file_name: str) -> str:
    name = file_name.replace("\\", "/").rpartition("/")[2]
    for ending in (".gz", ".zip", ".jsonl", ".ndjson", ".json"):
        name = name.removesuffix(ending)
    return name[:MAX_TITLE]


@dataclass(slots=True)
class _Log:
    head: str = BEGINNING
    warnings: Warnings = field(default_factory=Warnings)
    sha: Any = field(default_factory=sha256)
    nodes: list[Node] = field(default_factory=list)
    parents: dict[str, str] = field(default_factory=dict)
    # Lines that stand beside one that is not read yet, by their number among the nodes.
    beside: dict[str, str] = field(default_factory=dict)
    bytes_left: int = MAX_CONVERSATION_BYTES

    def add(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            raise Refused(LIMIT, f"It is longer than {MAX_JSON_BYTES} bytes.")
        self.bytes_left -= len(line)
        if self.bytes_left < 0 or len(self.nodes) == MAX_NODES:
            raise Refused(LIMIT, f"The log has over {MAX_NODES} messages or {MAX_CONVERSATION_BYTES} bytes.")
        self.sha.update(line + b"\n")
        value = loads(line)
        if not isinstance(value, dict):
            raise refuse("It is not an object.")
        self._place(value)

    def _place(self, value: dict[str, Any]) -> None:
        named = [name for name in _REFERENCES if value.get(name) is not None]
        if len(named) > 1:
            raise refuse("It has more than one of parent, edits, regenerates and rollback_to.")
        verb = named[0] if named else ""
        target = key_of(value[verb]) if verb else None
        message = self._message(value)
        if verb == "rollback_to" and message is None:
            self.head = target or BEGINNING
            return
        key = key_of(value.get("id"))
        if key is None:
            self.warnings.add("A line has no id: nothing can name it.")
            key = f"\0{len(self.nodes)}"
        if key in self.parents:
            raise refuse("It has the id of an earlier line.")
        self.parents[key] = self._parent(key, verb, target)
        self.nodes.append(Node(key, None, message))
        self.head = key

    def _parent(self, key: str, verb: str, target: str | None) -> str:
        if not verb:
            return self.head
        if verb in ("parent", "rollback_to"):
            return target or BEGINNING
        if target in self.parents and target not in self.beside:
            return self.parents[target]
        self.beside[key] = target or ""
        return self.head

    def resolved(self) -> tuple[Node, ...]:
        """The nodes with their parents; raises Refused for lines that stand beside each other in a circle."""
        for key in list(self.beside):
            self._resolve(key)
        nodes = ((node, self.parents[node.key]) for node in self.nodes)
        return tuple(
            Node(node.key, None if parent == BEGINNING else parent, node.message) for node, parent in nodes
        )

    def _resolve(self, key: str) -> None:
        """Gives the line, and those it stands beside, the parent of the last one."""
        chain: list[str] = []
        while (target := self.beside.pop(key, None)) is not None:
            if target not in self.parents:
                self.warnings.add(
                    "A line edits or regenerates one that is not in the file: it follows the head."
                )
                break
            chain.append(key)
            key = target
        if key in chain:
            raise refuse("Lines edit or regenerate each other in a circle.")
        for one in chain:
            self.parents[one] = self.parents[key]

    def _message(self, value: dict[str, Any]) -> Message | None:
        if EXTENSION in value:
            return untrusted(message_of(value[EXTENSION]))
        content = content_of(value.get("content"), self.warnings)
        if not content.parts:
            return None
        name, time, speaker = value.get("role"), value.get("time"), value.get("name")
        role = _ROLES.get(name) if isinstance(name, str) else None
        if role is None:
            raise refuse("It has no role that is known.")
        speaker = speaker if isinstance(speaker, str) and len(speaker) <= MAX_NAME else ""
        stamp = {} if time in (None, "") else {TIME_KEY: time if isinstance(time, str) else dumps(time)}
        return untrusted(Message(role, content.parts, speaker, metadata=content.metadata | stamp))
