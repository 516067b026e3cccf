"""From messages to floors, by the contract's "Importing trees".

A run of system and user messages is an input page; the run of assistant and tool messages after it
an output page. A page ends where the run does, at a fork, at the head (so that the head is exactly
that path), and where it is full. Several replies to one input become siblings with that input page;
every other continuation of a page that ended becomes a child. So every root-to-leaf sequence of
messages is one root-to-leaf path of floors, and the other way round.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from conversation_service.domain.imports.forest import Forest, forest
from conversation_service.domain.imports.model import (
    BadConversation,
    Conversation,
    PlannedFloor,
    PlannedTree,
    Warnings,
)
from conversation_service.domain.limits import (
    LIMIT,
    MAX_PAGE_BYTES,
    MAX_PAGE_MESSAGES,
    MAX_PATH_FLOORS,
    Refused,
)
from kernel.tree.message import Message
from kernel.tree.model import Role

_INPUT = (Role.SYSTEM, Role.USER)

Page = tuple[Message, ...]


def plan(conversation: Conversation) -> PlannedTree | BadConversation:
    """The floors of a conversation and its head; or why there are none: a cycle, an id used twice
    (INVALID), a path, message or conversation over its limit (LIMIT)."""
    warnings = Warnings()
    try:
        shaper = _Shaper(forest(conversation, warnings), warnings)
        shaper.run()
    except Refused as refused:
        return BadConversation(conversation.index, conversation.title, refused.reason, refused.message)
    if not shaper.floors:
        warnings.add("The conversation has no message.")
    return PlannedTree(
        conversation,
        tuple(shaper.floors),
        shaper.head,
        len(shaper.messages),
        conversation.warnings + warnings.sentences(),
    )


@dataclass(slots=True)
class _Shared:
    """An input page with several continuations; `floor` is the first that has it."""

    page: Page
    floor: int | None = None


@dataclass(frozen=True, slots=True)
class _Work:
    """A floor that begins at message `first`, or for `under` one with the shared input alone, over
    the messages that go on with more input."""

    parent: int | None
    first: int
    shared: _Shared | None = None
    under: tuple[int, ...] = ()


@dataclass(slots=True)
class _Shaper:
    _forest: Forest
    _warnings: Warnings
    floors: list[PlannedFloor] = field(default_factory=list)
    head: int | None = None
    _depths: list[int] = field(default_factory=list)
    # The last one is next; what a floor pushes is done before its next sibling.
    _waiting: list[_Work] = field(default_factory=list)

    @property
    def messages(self) -> Sequence[Message]:
        return self._forest.messages

    def run(self) -> None:
        self._push(None, self._forest.roots)
        while self._waiting:
            work = self._waiting.pop()
            if work.under:
                self._push(self._add(work, None), work.under)
            elif work.shared is None and self._is_input(work.first):
                self._from_input(work)
            else:
                page, last = self._page(work.first)
                self._end(self._add(work, page), last)

    def _from_input(self, work: _Work) -> None:
        page, last = self._page(work.first)
        below = self._forest.children[last]
        shared = _Shared(page)
        if last == self._forest.head or all(self._is_input(child) for child in below):
            self._end(self._add(_Work(work.parent, last, shared), None), last)
            return
        inputs = tuple(child for child in below if self._is_input(child))
        branches = [
            _Work(work.parent, child, shared, inputs if child in inputs[:1] else ())
            for child in below
            if child in inputs[:1] or not self._is_input(child)
        ]
        self._waiting.extend(reversed(branches))

    def _add(self, work: _Work, output: Page | None) -> int:
        index = len(self.floors)
        depth = 1 if work.parent is None else self._depths[work.parent] + 1
        if depth > MAX_PATH_FLOORS:
            raise Refused(LIMIT, f"A path is longer than {MAX_PATH_FLOORS} turns.")
        self._depths.append(depth)
        shared = work.shared
        page, sharing = (shared.page, shared.floor) if shared else (None, None)
        self.floors.append(PlannedFloor(index, work.parent, page, output, sharing))
        if shared and shared.floor is None:
            shared.floor = index
        return index

    def _end(self, floor: int, last: int) -> None:
        if last == self._forest.head:
            self.head = floor
        self._push(floor, self._forest.children[last])

    def _push(self, parent: int | None, firsts: Sequence[int]) -> None:
        self._waiting.extend(_Work(parent, first) for first in reversed(firsts))

    def _page(self, first: int) -> tuple[Page, int]:
        """The messages of the page that begins at `first`, and the last one's number."""
        last, held = first, [self.messages[first]]
        total = self._forest.sizes[first]
        while last != self._forest.head and len(below := self._forest.children[last]) == 1:
            message = self.messages[below[0]]
            if (message.role in _INPUT) != (held[0].role in _INPUT):
                break
            total += self._forest.sizes[below[0]]
            if len(held) == MAX_PAGE_MESSAGES or total > MAX_PAGE_BYTES:
                self._warnings.add(
                    "A run of messages is longer than a page may be: it is continued on another."
                )
                break
            held.append(message)
            last = below[0]
        return tuple(held), last

    def _is_input(self, number: int) -> bool:
        return self.messages[number].role in _INPUT
