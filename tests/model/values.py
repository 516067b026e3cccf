"""What the model's tree is made of. Keys are small integers; the runner maps them to real ids."""

from dataclasses import dataclass, field
from enum import Enum

INPUT, OUTPUT = 1, 2
ROOT = 0
# Stands for a floor or a page that exists nowhere.
UNKNOWN = -1


class State(Enum):
    OPEN = "OPEN"
    GENERATING = "GENERATING"
    COMMITTED = "COMMITTED"
    FAILED = "FAILED"

    @property
    def pending(self) -> bool:
        return self in (State.OPEN, State.GENERATING)


class Refused(Exception):
    """A call that changes nothing; `reason` as in ErrorInfo, `floor` the one its metadata names.

    `code` where it is not the reason's usual one.
    """

    def __init__(self, reason: str, floor: int | None = None, code: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.floor = floor
        self.code = code


@dataclass(frozen=True)
class Msg:
    role: int
    text: str
    hidden: bool = False
    name: str = ""
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Page:
    """One version of one side; `floor` is where it was first written."""

    key: int
    floor: int
    slot: int
    messages: tuple[Msg, ...]
    partial: bool = False


@dataclass
class Floor:
    key: int
    parent: int | None
    depth: int
    ordinal: int
    state: State
    branch: str
    input: int | None = None
    output: int | None = None
    # Every version written on this floor or shared with it, in that order.
    pages: list[int] = field(default_factory=list)
    # Those that ActivatePage can name: of floors that were opened to be filled by the caller.
    versions: list[int] = field(default_factory=list)
    failure_reason: str | None = None


@dataclass
class Branch:
    name: str
    head: int
    pending: int | None = None
    failed: int | None = None
    version: int = 1


@dataclass(frozen=True)
class Move:
    """One recorded move of a branch's head."""

    branch: str
    source: int
    target: int
    kind: str


@dataclass(frozen=True)
class Aim:
    """What every call on a branch says about it. `expected` None: whatever the head is."""

    branch: str = "main"
    expected: int | None = None
    abandon: bool = False


@dataclass(frozen=True)
class Position:
    """1-based; 0 of 0 for an absent side and for floors that are not committed."""

    input_index: int = 0
    input_count: int = 0
    output_index: int = 0
    output_count: int = 0
