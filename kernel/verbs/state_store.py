"""The contract of the store for state and live values; see `store.py`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kernel.tree.model import Floor, StoredEffects


@dataclass(frozen=True, slots=True)
class Written:
    """The effects of one committed floor, and the last message of the page that brought them."""

    floor_id: str
    message_id: str
    effects: StoredEffects


@dataclass(frozen=True, slots=True)
class LiveRow:
    """`version` is the layer's when the value was written."""

    key: str
    value_json: str
    version: int
    principal: str = ""


@dataclass(frozen=True, slots=True)
class LiveLayer:
    """The live values of one session or project, by key. One that nobody wrote to has version 1."""

    version: int = 1
    values: tuple[LiveRow, ...] = ()


NO_LAYER = LiveLayer()


class StateReads(Protocol):
    async def since_copy(self, floor: Floor) -> tuple[str, list[Written]]:
        """The text of the last copy of the state on the path to a committed floor, and what floors below
        that copy wrote, down to the floor itself, in order. "" for no copy: then from the root.

        Touches one row for each of them, and one for the copy, wherever they are. DATA_LOSS for
        effects that fail their digest, and for a copy that is gone.
        """

    async def state_copies(self, session_id: str) -> dict[str, str]:
        """Every copy's text, by floor id."""

    async def live_layers(self, *owner_ids: str) -> dict[str, LiveLayer]:
        """By owner, each of them."""

    async def live_size(self, owner_id: str) -> tuple[int, int]:
        """How many values a layer has, and how many characters in keys and values."""


class StateWrites(Protocol):
    async def insert_state_copies(self, session_id: str, copies: Mapping[str, str]) -> None:
        """Texts by floor id."""

    async def delete_state_copies(self, session_id: str) -> None: ...

    async def write_live(self, owner_id: str, values: Mapping[str, str | None], principal: str) -> int:
        """Sets, or with None deletes, values of a layer, as its next version. -> that version

        The layer is locked until the end: whoever writes to several takes the session's first.
        """

    async def lock_live(self, owner_id: str) -> int:
        """The layer's version, which stays until the end."""

    async def copy_live(self, owner_id: str, layer: LiveLayer) -> None:
        """A whole layer for an owner that has none."""

    async def update_derived(self, floor: Floor) -> None:
        """The path_tokens and the mark of a floor, derived again: nothing else of a sealed one changes."""

    async def update_stored_tokens(self, session_id: str, tokens: int) -> None: ...
