"""A session as the tree of its messages, for formats that know no floors.

Committed floors only. Siblings that share an input page have its messages once, with a reply each.
So the root-to-leaf sequences of the messages are those of the floors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from conversation_service.domain.exports.model import ExportFloor, ExportPage, ExportTree
from kernel.tree.message import Message
from kernel.tree.model import FloorState


@dataclass(slots=True)
class Said:
    """A message, with the numbers of the one before it and of those after it, in sibling order."""

    key: str
    parent: int | None
    message: Message
    children: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Thread:
    """Messages by number, each after its parent. `current` is where main's head ends, None for the
    beginning."""

    title: str
    said: Sequence[Said]
    roots: Sequence[int]
    current: int | None

    def depth_first(self) -> list[int]:
        order: list[int] = []
        waiting = list(reversed(self.roots))
        while waiting:
            order.append(waiting.pop())
            waiting.extend(reversed(self.said[order[-1]].children))
        return order


def thread(tree: ExportTree) -> Thread:
    """The messages of a session; `tree.floors` have parents before children."""
    threading = _Threading({tree.root_floor_id: None})
    floors = [floor for floor in tree.floors if floor.state is FloorState.COMMITTED]
    inner = {floor.parent_floor_id for floor in floors}
    for floor in floors:
        threading.add(floor, leaf=floor.floor_id not in inner)
    current = threading.ends[tree.main.head_floor_id]
    return Thread(tree.title, threading.said, threading.roots, current)


@dataclass(slots=True)
class _Threading:
    # By floor, its last message.
    ends: dict[str, int | None]
    said: list[Said] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    _inputs: dict[tuple[str, str], int | None] = field(default_factory=dict)
    _keys: set[str] = field(default_factory=set)

    def add(self, floor: ExportFloor, leaf: bool) -> None:
        end = self.ends[floor.parent_floor_id]
        if floor.input is not None:
            shared = (floor.parent_floor_id, floor.input.page_id)
            # A floor that ends with its input is a path of its own: beside a reply it would be none.
            if leaf and floor.output is None:
                end = self._page(floor.input, end)
            else:
                if shared not in self._inputs:
                    self._inputs[shared] = self._page(floor.input, end)
                end = self._inputs[shared]
        if floor.output is not None:
            end = self._page(floor.output, end)
        self.ends[floor.floor_id] = end

    def _page(self, page: ExportPage, parent: int | None) -> int | None:
        for index, message in enumerate(page.messages):
            number = len(self.said)
            self.said.append(Said(self._key(f"{page.page_id}.{index}"), parent, message))
            (self.roots if parent is None else self.said[parent].children).append(number)
            parent = number
        return parent

    def _key(self, name: str) -> str:
        """The message's id, or for a page that stands in several places one like it."""
        key, copy = name, 1
        while key in self._keys:
            copy += 1
            key = f"{name}~{copy}"
        self._keys.add(key)
        return key
