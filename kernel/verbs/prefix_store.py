"""The contract of the store for what stands before a session's own floors; see `store.py`.

A conversation begins at its root, with nothing before it. A draft's root stands for a floor of its source:
the source's frozen history is its prefix, in every context and addressed by no verb.
"""

from collections.abc import Mapping
from typing import Protocol

from kernel.state.model import EMPTY, State
from kernel.tree.model import FloorOutline


class PrefixReads(Protocol):
    async def prefix_outline(self, session_id: str) -> list[FloorOutline]:
        """The floors of the prefix, by depth from 1; those of the session itself go on from there."""

    async def prefix_bodies(self, session_id: str, first: int, last: int) -> Mapping[str, bytes]:
        """The stored pages of the prefix with first <= depth <= last, by page id. DATA_LOSS when one
        fails its digest."""

    async def prefix_depth(self, session_id: str) -> int:
        """How many floors the prefix has."""

    async def prefix_state(self, session_id: str) -> State:
        """The path-scope state that the session's root begins with."""


class NoPrefix:
    """`PrefixReads` of sessions that begin at their root."""

    async def prefix_outline(self, session_id: str) -> list[FloorOutline]:
        return []

    async def prefix_bodies(self, session_id: str, first: int, last: int) -> Mapping[str, bytes]:
        return {}

    async def prefix_depth(self, session_id: str) -> int:
        return 0

    async def prefix_state(self, session_id: str) -> State:
        return EMPTY
