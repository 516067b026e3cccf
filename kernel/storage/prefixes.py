"""What stands before a session's own floors: nothing, unless a service has tables for it."""

from collections.abc import Mapping

from kernel.state.model import EMPTY, State
from kernel.storage.reads import Scoped
from kernel.tree.model import FloorOutline


class PrefixReads(Scoped):
    async def prefix_outline(self, session_id: str) -> list[FloorOutline]:
        return []

    async def prefix_bodies(self, session_id: str, first: int, last: int) -> Mapping[str, bytes]:
        return {}

    async def prefix_depth(self, session_id: str) -> int:
        return 0

    async def prefix_state(self, session_id: str) -> State:
        return EMPTY
