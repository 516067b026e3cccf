"""What floors write, and what is visible at a place of a tree. Plain values.

JSON values are exact text throughout: nobody here parses or rewrites them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Scope(IntEnum):
    """Numbers as in stemma.kernel.v1.Scope."""

    PATH = 1
    SESSION = 2
    PROJECT = 3


class MemoryOp(IntEnum):
    """Numbers as in stemma.kernel.v1.MemoryOp."""

    ADD = 1
    UPDATE = 2
    DEPRECATE = 3


class MemoryKind(IntEnum):
    """Numbers as in stemma.kernel.v1.MemoryKind."""

    FACT = 1
    SUMMARY = 2
    OPEN_LOOP = 3


@dataclass(frozen=True, slots=True)
class VariableWrite:
    """`value_json` is None for a deletion."""

    scope: Scope
    key: str
    value_json: str | None


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """UPDATE states an item anew; its kind and fact key stay where they are left out.

    `covers_depth` is the depth of the floor that a summary covers to, 0 for none: depths are equal
    wherever the content is, ids are not. DEPRECATE has an id and nothing else.
    """

    op: MemoryOp
    memory_id: str
    kind: MemoryKind | None = None
    fact_key: str = ""
    text: str = ""
    importance: float = 0.0
    confidence: float = 0.0
    covers_depth: int = 0


@dataclass(frozen=True, slots=True)
class SlotWrite:
    """`value_json` is None for a deletion."""

    namespace: str
    slot: str
    value_json: str | None


@dataclass(frozen=True, slots=True)
class Effects:
    """What one floor does when it commits; in order, each list by itself."""

    variables: tuple[VariableWrite, ...] = ()
    memory: tuple[MemoryWrite, ...] = ()
    slots: tuple[SlotWrite, ...] = ()

    @property
    def live(self) -> tuple[VariableWrite, ...]:
        """The writes of session and project scope: part of no path."""
        return tuple(write for write in self.variables if write.scope is not Scope.PATH)

    def __bool__(self) -> bool:
        return bool(self.variables or self.memory or self.slots)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where effects come from: the floor, the last message of the page that brought them ("" for
    none), that page's source, and for each memory write that covers a floor, in order, its id."""

    floor_id: str
    message_id: str = ""
    source: str = ""
    covers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """A variable's or a slot's value on a path, and the floor that wrote it."""

    value_json: str
    floor_id: str


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One item as its last write left it: `floor_id`, `message_id` and `source` are that write's."""

    memory_id: str
    kind: MemoryKind
    fact_key: str
    text: str
    importance: float
    confidence: float
    # For a summary: the last floor that it covers, and its depth; "" and 0 for none.
    covers_floor_id: str
    covers_depth: int
    floor_id: str
    message_id: str
    source: str
    # Where the item was added.
    added_floor_id: str
    deprecated: bool = False

    @property
    def trust(self) -> str:
        """`trusted` for what a client of this service wrote; `model`; `untrusted_import`."""
        if self.source.startswith("import:"):
            return "untrusted_import"
        return "model" if self.source == "model" else "trusted"


def _no_items() -> Mapping[K, V]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class State:
    """The path-scope state at a floor. Never changed in place.

    `memory` is in the order in which items were added; deprecated ones are in it. `deleted` are the
    keys whose variable a floor deleted: also an initial value of the configuration is then gone.
    """

    variables: Mapping[str, Value] = field(default_factory=_no_items)
    deleted: frozenset[str] = frozenset()
    memory: Mapping[str, MemoryItem] = field(default_factory=_no_items)
    slots: Mapping[tuple[str, str], Value] = field(default_factory=_no_items)


EMPTY = State()


@dataclass(frozen=True, slots=True)
class LiveValue:
    """A variable of session or project scope. `version` is that of the layer when it was written."""

    scope: Scope
    key: str
    value_json: str
    version: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A visible variable. `floor_id` is the one that wrote it (path scope; the root for an initial
    value of the configuration), `version` that of a live value."""

    scope: Scope
    key: str
    value_json: str
    floor_id: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class VisibleState:
    """What is visible at a floor: the path's state, the live values, and what the configuration gives
    to variables that nobody wrote.

    `live_version` is opaque and names the layers' versions, which are beside it. A project by itself
    has no session's: its version is 0.
    """

    state: State
    live: tuple[LiveValue, ...]
    initial: Mapping[str, str]
    root_floor_id: str
    session_version: int
    project_version: int

    @property
    def live_version(self) -> str:
        project = f"project.{self.project_version}"
        return f"{project}/session.{self.session_version}" if self.session_version else project

    @property
    def variables(self) -> tuple[Variable, ...]:
        """By key, then scope: PATH, SESSION, PROJECT. An initial value counts as PATH, written at the
        root, and is there only while no scope has the key and no floor deleted it."""
        state = self.state
        found = [Variable(Scope.PATH, k, v.value_json, v.floor_id) for k, v in state.variables.items()]
        found += [Variable(v.scope, v.key, v.value_json, version=v.version) for v in self.live]
        written = {variable.key for variable in found} | state.deleted
        found += [
            Variable(Scope.PATH, key, value, self.root_floor_id)
            for key, value in self.initial.items()
            if key not in written
        ]
        return tuple(sorted(found, key=lambda variable: (variable.key, variable.scope)))

    @property
    def values(self) -> dict[str, str]:
        """JSON text by key, as a template sees it: the narrowest scope wins."""
        return {variable.key: variable.value_json for variable in reversed(self.variables)}

    @property
    def memory(self) -> tuple[MemoryItem, ...]:
        """The items that are not deprecated, in the order in which they were added."""
        return tuple(item for item in self.state.memory.values() if not item.deprecated)
