"""The heads that this process moved last: where the next turn most likely goes.

Only a guess saves its read here. Whether the head still is the head is for the statement that writes
the turn to say, so a guess that has grown old costs one more try and nothing else.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace

from kernel.tree.model import Floor

_MOST = 4_096


@dataclass(frozen=True, slots=True)
class KnownHead:
    """A committed floor without its bodies, and the id of the last message at or above it."""

    floor: Floor
    last_message: str


class KnownHeads:
    """By tenant, session and branch; the least lately used ones are forgotten."""

    def __init__(self) -> None:
        self._heads: OrderedDict[tuple[str, str, str], KnownHead] = OrderedDict()

    def get(self, tenant_id: str, session_id: str, branch: str) -> KnownHead | None:
        key = (tenant_id, session_id, branch)
        if key in self._heads:
            self._heads.move_to_end(key)
        return self._heads.get(key)

    def put(self, tenant_id: str, branch: str, floor: Floor, last_message: str) -> None:
        effects = replace(floor.effects, blob=b"") if floor.effects else None
        slim = replace(floor, input=None, output=None, effects=effects)
        self._heads[tenant_id, floor.session_id, branch] = KnownHead(slim, last_message)
        if len(self._heads) > _MOST:
            self._heads.popitem(last=False)

    def forget(self, tenant_id: str, session_id: str, branch: str) -> None:
        self._heads.pop((tenant_id, session_id, branch), None)
