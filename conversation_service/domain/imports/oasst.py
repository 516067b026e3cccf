"""Open Assistant trees: one tree a line, each message with its replies inside.

`parent_id` is the truth where it names a message of the tree, the nesting where it does not.
Siblings are ordered by `rank`. Beyond the format, as our own export writes it: `title`,
`current_message_id`, the roles system and tool, and `stemma` with a message in full.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from conversation_service.domain.imports.model import (
    MAX_JSON_BYTES,
    BadConversation,
    Conversation,
    Node,
    Warnings,
    key_of,
    title_of,
)
from conversation_service.domain.imports.oasst_cut import Piece, cut
from conversation_service.domain.imports.text import TooLong, lines
from conversation_service.domain.limits import LIMIT, Refused, refuse
from conversation_service.domain.message_json import ROLES, message_of
from conversation_service.domain.provenance import TIME_KEY, untrusted
from kernel.strict_json import NotJson, loads
from kernel.tree.message import Message, Text
from kernel.tree.model import Role

SOURCE = "import:oasst"
EXTENSION = "stemma"
_ROLES = ROLES | {"prompter": Role.USER}
_TITLE = 80


def read(chunks: Iterable[bytes], first: int = 0) -> Iterator[Conversation | BadConversation]:
    """The trees of a file, numbered from `first`."""
    for index, (number, line) in enumerate(lines(chunks, MAX_JSON_BYTES), first):
        try:
            yield _conversation(index, line)
        except (NotJson, Refused) as error:
            yield _bad(index, f"line {number}", error)


def _bad(index: int, title: str, error: NotJson | Refused) -> BadConversation:
    message = error.message if isinstance(error, Refused) else f"The line {error}."
    return BadConversation(index, title, error.reason, message)


def _conversation(index: int, line: bytes | TooLong) -> Conversation:
    if isinstance(line, TooLong):
        raise Refused(LIMIT, f"The line is longer than {MAX_JSON_BYTES} bytes.")
    reading = _Reading(_pieces(line))
    reading.read()
    tree, warnings = reading.tree, reading.warnings
    current = key_of(tree.get("current_message_id"))
    title = title_of(tree.get("title"), warnings) or _first_words(reading.nodes)
    return Conversation(
        index,
        title,
        tuple(reading.nodes),
        current,
        warnings.sentences(),
        SOURCE,
        sha256(line).digest(),
    )


def _pieces(line: bytes) -> list[Piece]:
    try:
        return cut(line.decode())
    except UnicodeDecodeError as error:
        raise NotJson(f"is not UTF-8, at byte {error.start}") from None


def _first_words(nodes: list[Node]) -> str:
    text = next((node.message.text for node in nodes if node.message), "")
    return text.strip()[:_TITLE].partition("\n")[0]


@dataclass(slots=True)
class _Reading:
    pieces: list[Piece]
    tree: dict[str, Any] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    warnings: Warnings = field(default_factory=Warnings)

    def read(self) -> None:
        self.tree = _object(self.pieces[0].text)
        prompt = self.tree.get("prompt")
        if not isinstance(prompt, dict):
            raise refuse("The line is no tree: it has no prompt.")
        # Only the prompt may hold replies of the whole.
        messages = [prompt, *(_object(piece.text) for piece in self.pieces[1:])]
        for message, piece in zip(messages, self.pieces, strict=True):
            if message.get("replies") not in (None, [0] * piece.replies):
                raise refuse("A message has replies that are no messages.")
        keys = [_key(message, number) for number, message in enumerate(messages)]
        known = set(keys)
        for number, (message, key) in enumerate(zip(messages, keys, strict=True)):
            around = self.pieces[number].parent
            parent = self._parent(message, None if around is None else keys[around], known)
            self.nodes.append(Node(key, parent, self._message(message), _rank(message.get("rank"))))

    def _parent(self, message: dict[str, Any], around: str | None, known: set[str]) -> str | None:
        stated = key_of(message.get("parent_id"))
        if stated is None or stated == around:
            return around
        if stated in known:
            self.warnings.add("A message stands inside of another than its parent: the parent counts.")
            return stated
        self.warnings.add("A message's parent is not in the tree: it is kept where it stands.")
        return around

    def _message(self, value: dict[str, Any]) -> Message | None:
        if EXTENSION in value:
            return untrusted(message_of(value[EXTENSION]))
        name, text = value.get("role"), value.get("text")
        role = _ROLES.get(name) if isinstance(name, str) else None
        if text is None or text == "":
            return None
        if role is None:
            raise refuse("A message has an unknown role.")
        if not isinstance(text, str):
            raise refuse("A message's text is not text.")
        time = value.get("created_date")
        metadata = {TIME_KEY: time} if isinstance(time, str) and time else {}
        return untrusted(Message(role, (Text(text),), metadata=metadata))


def _object(text: str) -> dict[str, Any]:
    value = loads(text)
    if not isinstance(value, dict):
        raise refuse("The line is no tree: it is not an object.")
    return value


def _key(message: dict[str, Any], number: int) -> str:
    key = key_of(message.get("message_id"))
    # A tree is nested: who has no id can still stand in it.
    return f"\0{number}" if key is None else key


def _rank(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
