"""What a file's reader finds, and what is made of it. Plain values."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from conversation_service.domain.exports.model import ExportTree
from conversation_service.domain.limits import MAX_TITLE, refuse
from kernel.tree.message import Message

MAX_NODES = 500_000
"""Messages of one conversation, those without content too."""
MAX_CONVERSATION_BYTES = 256 * 1024 * 1024
"""Of one conversation that is written over many lines."""
MAX_JSON_BYTES = 64 * 1024 * 1024
"""Of one JSON text: a line, or one conversation of an array."""

BEGINNING = "\0"
"""A `current_key` before the first message. No key of a file has a NUL."""

Encode = Callable[[Sequence[Message]], bytes]
"""The stored bytes of a page's messages; digests are over them."""


@dataclass(frozen=True, slots=True)
class Node:
    """One message of a file by its key there; without content it only joins its children to its parent.

    `rank` orders siblings, lowest first; those without one follow in the file's order.
    """

    key: str
    parent_key: str | None
    message: Message | None
    rank: float | None = None


@dataclass(frozen=True, slots=True)
class LogTokens:
    """What a plain log costs against the tree, by `kernel.prompt.tokens.estimate` over each message.

    - `log_next`, `tree_next`: the next context. A log sends all its messages, a tree those on the
      path to the head.
    - `log_sent`, `tree_sent`: all contexts so far, one for each of the `calls`, which are the
      file's assistant messages. Before each, a log sent every message on an earlier line, and a
      tree those above it on its path.
    """

    calls: int
    log_sent: int
    tree_sent: int
    log_next: int
    tree_next: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation as the file tells it.

    Args:
        index: Its number in the file, from 0, bad ones counted.
        nodes: In the file's order.
        current_key: The node that the file marks as current; None when it marks none.
        source: For the pages made of it: `import:<format>`.
        digest: sha256 over the bytes of the conversation in the file: its content for a repeat.
    """

    index: int
    title: str
    nodes: tuple[Node, ...]
    current_key: str | None
    warnings: tuple[str, ...]
    source: str
    digest: bytes
    tokens: LogTokens | None = None


@dataclass(frozen=True, slots=True)
class NativeConversation:
    """One session of a `stemma` file, with every digest checked.

    `tree.floors` come parents first, depth first, siblings by ordinal; its ids are the file's.
    """

    index: int
    tree: ExportTree
    warnings: tuple[str, ...]
    source: str
    digest: bytes

    @property
    def title(self) -> str:
        return self.tree.title


@dataclass(frozen=True, slots=True)
class BadConversation:
    """One conversation that cannot be taken. `reason` is an ErrorInfo reason: INVALID, LIMIT or
    DIGEST_MISMATCH; `message` says why and never quotes the file."""

    index: int
    title: str
    reason: str
    message: str


Found = Conversation | NativeConversation | BadConversation


@dataclass(frozen=True, slots=True)
class PlannedFloor:
    """A floor to be made. `parent_index` None is the session's root; `shares_input_of` names an
    earlier sibling whose input page this floor has too, the very same page."""

    index: int
    parent_index: int | None
    input: tuple[Message, ...] | None
    output: tuple[Message, ...] | None
    shares_input_of: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedTree:
    """A session to be made: floors parents first, siblings in order. `head` None is the root."""

    conversation: Conversation
    floors: tuple[PlannedFloor, ...]
    head: int | None
    messages: int
    warnings: tuple[str, ...]


@dataclass(slots=True)
class Warnings:
    """Sentences for the report, each once, with how often it holds."""

    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, sentence: str) -> None:
        self._counts[sentence] += 1

    def sentences(self) -> tuple[str, ...]:
        return tuple(text if n == 1 else f"{text} ({n} times)" for text, n in self._counts.items())


def title_of(value: object, warnings: Warnings) -> str:
    """A title as sessions have it; what is none becomes empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        warnings.add("The title is not text: left empty.")
        return ""
    if len(value) > MAX_TITLE:
        warnings.add(f"The title is cut to {MAX_TITLE} characters.")
    return value[:MAX_TITLE]


def key_of(value: object) -> str | None:
    """An id of a file: text or a whole number; None for none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise refuse("An id is neither text nor a whole number.")
