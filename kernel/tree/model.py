"""The words of the tree as plain values. Pure: no transport, no storage, no clock."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import NamedTuple


class Role(IntEnum):
    """Numbers as in stemma.kernel.v1.Role."""

    SYSTEM = 1
    USER = 2
    ASSISTANT = 3
    TOOL = 4


class Slot(IntEnum):
    """Numbers as in stemma.kernel.v1.Slot."""

    INPUT = 1
    OUTPUT = 2


class FloorState(StrEnum):
    OPEN = "open"
    GENERATING = "generating"
    COMMITTED = "committed"
    FAILED = "failed"

    @property
    def pending(self) -> bool:
        return self in (FloorState.OPEN, FloorState.GENERATING)


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """What assembly needs to know of a message without reading it.

    `plain`: it is known to hold neither tool calls nor results; else whoever pairs them has to look.
    """

    role: Role
    hidden: bool
    tokens: int
    plain: bool = False


@dataclass(frozen=True, slots=True)
class PageContent:
    """A page's messages as the stored bytes, and one fact per message in their order.

    `blob` is a run of length-delimited messages (field 1), so joining blobs joins message lists.
    """

    blob: bytes
    facts: tuple[MessageFacts, ...]

    @property
    def tokens(self) -> int:
        return sum(fact.tokens for fact in self.facts)


@dataclass(frozen=True, slots=True)
class StoredEffects:
    """What a floor does to the truth layer, as the stored bytes (kernel.state.text reads them).

    `source` says who brought them, in the words of a page's source. `covers` holds the ids that the
    bytes know by depth only, `counts` the writes of variables, memory and slots. `blob` is empty where
    bodies were not asked for.
    """

    blob: bytes
    digest: bytes
    source: str
    counts: tuple[int, int, int]
    covers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateMark:
    """Where the path's state at a floor is found; derived from the floors above.

    `above_id` is the nearest floor above with effects; `debt` counts the floors with effects since the
    last copy of the state, itself included: 0 where the copy is kept, or no state is; `size` bounds the
    bytes of that state as text.
    """

    above_id: str | None = None
    debt: int = 0
    size: int = 0


NO_STATE = StateMark()


@dataclass(frozen=True, slots=True)
class Page:
    """One version of one side of a floor; `floor_id` is where it was first written.

    `content` is empty where bodies were not asked for; `tokens` is always there. `effects` are what a
    version of an opened floor brought; a floor that was committed has them itself.
    """

    page_id: str
    floor_id: str
    slot: Slot
    content: PageContent
    digest: bytes
    tokens: int
    partial: bool
    source: str
    create_time: datetime
    effects: StoredEffects | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    tokens_in: int
    tokens_out: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a floor sits: the depth-th floor of a path, in an unforked run of floors."""

    segment: int
    depth: int


@dataclass(frozen=True, slots=True)
class Floor:
    """One turn. Immutable once committed; the root has no parent and no pages."""

    floor_id: str
    session_id: str
    parent_floor_id: str | None
    parent_segment: int | None
    place: Place
    ordinal: int
    state: FloorState
    input: Page | None
    output: Page | None
    digest: bytes | None
    path_tokens: int
    usage: Usage | None
    run_id: str | None
    failure_reason: str
    principal: str
    create_time: datetime
    commit_time: datetime | None
    # The branch whose pending floor this was when it was opened.
    branch: str
    effects: StoredEffects | None = None
    mark: StateMark = NO_STATE

    @property
    def is_root(self) -> bool:
        return self.parent_floor_id is None

    @property
    def pages(self) -> tuple[Page, ...]:
        return tuple(page for page in (self.input, self.output) if page is not None)


class PageOutline(NamedTuple):
    """A page without its body: `size` bytes of it are stored."""

    page_id: str
    facts: tuple[MessageFacts, ...]
    size: int


class FloorOutline(NamedTuple):
    """A floor as far as assembly needs it, input before output."""

    floor_id: str
    depth: int
    pages: tuple[PageOutline, ...]
    effects_size: int = 0

    @property
    def size(self) -> int:
        """Bytes of everything that is shown of it."""
        return sum(page.size for page in self.pages) + self.effects_size


@dataclass(frozen=True, slots=True)
class Position:
    """Where a floor stands among its siblings; from 1, and 0 of 0 for what is absent."""

    floor_id: str
    input_index: int = 0
    input_count: int = 0
    output_index: int = 0
    output_count: int = 0


@dataclass(frozen=True, slots=True)
class Branch:
    """A named head."""

    name: str
    head_floor_id: str
    pending_floor_id: str | None
    failed_floor_id: str | None
    depth: int
    version: int
    create_time: datetime
    update_time: datetime


@dataclass(frozen=True, slots=True)
class HeadMove:
    branch: str
    from_floor_id: str
    to_floor_id: str
    kind: str
    principal: str
    move_time: datetime
