"""What a context is made of, read in a statement or two, for `assemble`, which asks for it piece by piece."""

from collections.abc import Sequence
from typing import Any

from kernel.errors import NotFound
from kernel.tree.model import Floor, FloorOutline, MessageFacts, PageOutline, Place
from kernel.tree.places import Chain, Link, clipped
from kernel.verbs.path_store import MAX_BODY, Basis, ContextReads, ContextRows, PathSource, bodies
from kernel.verbs.prefix_store import NoPrefix
from kernel.verbs.records import Project
from kernel.verbs.state_store import NO_LAYER, LiveLayer, Written

# A body may have so many times its share of what all may have: then it is read with the facts all the same.
_SHARES = 4


def stateless(basis: Basis) -> bool:
    """Whether nobody has written to the state at the basis's end, or to the live values beside it."""
    tip, end = basis.tip, basis.end
    written = end.effects is not None or end.mark.above_id is not None
    return not (written or tip.session_live_version or tip.project_live_version)


async def prefetched(
    source: PathSource, basis: Basis, trimmed: bool, max_bytes: int, state: ContextReads | None = None
) -> "Prefetched":
    """For the path to the basis's end. Unless it will be `trimmed`, its bodies are read with its facts.

    `state`: where the state is read; not needed for a basis that is `stateless`.
    """
    place = basis.end.place
    chain: Chain = [Link(0, 0, place.depth)]
    if basis.tip.forked:
        chain = await source.chain(basis.session.session_id, place)
    most = 0 if trimmed else _SHARES * max_bytes // max(1, place.depth)
    return Prefetched(source, basis, chain, most, state)


def _no_facts(packed: bytes) -> tuple[MessageFacts, ...]:
    return ()


class Prefetched(NoPrefix):
    """`ContextReads` for one path of a session without a prefix. NOT_FOUND when it is erased meanwhile."""

    def __init__(
        self, source: PathSource, basis: Basis, chain: Chain, most: int, state: ContextReads | None
    ) -> None:
        self._source, self._basis, self._chain, self._most = source, basis, chain, most
        self._state = state
        self._found = ContextRows((), str, _no_facts)

    async def project(self, project_id: str) -> Project | None:
        return self._basis.project

    async def since_copy(self, floor: Floor) -> tuple[str, list[Written]]:
        return await self._state.since_copy(floor) if self._state else ("", [])

    async def live_layers(self, *owner_ids: str) -> dict[str, LiveLayer]:
        return (
            await self._state.live_layers(*owner_ids) if self._state else dict.fromkeys(owner_ids, NO_LAYER)
        )

    async def path_outline(self, session_id: str, place: Place, first: int, last: int) -> list[FloorOutline]:
        self._found = await self._rows(session_id, first, last, self._most)
        return [FloorOutline(self._found.text(row[1]), row[0], self._pages(row)) for row in self._found.rows]

    async def path_bodies(self, session_id: str, place: Place, first: int, last: int) -> dict[str, bytes]:
        found = self._found
        rows = [row for row in found.rows if first <= row[0] <= last]
        if any(size is not None and body is None for row in rows for size, body in (row[4:6], row[10:12])):
            return bodies(await self._rows(session_id, first, last, MAX_BODY))
        return bodies(ContextRows(rows, found.text, found.facts))

    def _pages(self, row: Sequence[Any]) -> tuple[PageOutline, ...]:
        text, facts = self._found.text, self._found.facts
        return tuple(
            PageOutline(text(row[at]), facts(row[at + 1]), row[at + 2])
            for at in (2, 8)
            if row[at] is not None
        )

    async def _rows(self, session_id: str, first: int, last: int, most: int) -> ContextRows:
        found = await self._source.context_rows(session_id, clipped(self._chain, first, last), most)
        if len(found.rows) != last - first + 1:
            raise NotFound("session")
        return found
