"""What was said in a draft, page by page: its frozen history, if that is wanted, and its own path."""

from collections.abc import Sequence
from dataclasses import dataclass

from draft_service.app.store import ReadTx
from draft_service.app.world import World
from draft_service.domain.policy import check_seen
from kernel.tree.model import Branch, Floor
from kernel.verbs.answers import Shown, last_message, shown
from kernel.verbs.env import MAIN, Caller
from kernel.verbs.queries import Placed, fitting, known_floor, path_end, placed_path


@dataclass(frozen=True, slots=True)
class Page:
    """`next`: from where it goes on, in floors from the beginning; None at the end. `pending` is on the last
    page."""

    head_floor_id: str
    frozen: Sequence[Shown]
    own: Sequence[Placed]
    pending: Shown | None
    branch: Branch
    next: int | None


async def transcript(
    world: World, caller: Caller, draft_id: str, head_floor_id: str, start: int, size: int, frozen: bool
) -> Page:
    """At most `size` floors, and 3 MiB, from the `start`-th on. `head_floor_id` pins the head at which a
    listing began; "" for the one of now."""
    async with world.store.reading(caller.tenant_id) as tx:
        check_seen(caller, await tx.draft(draft_id))
        branch = await tx.branch(draft_id, MAIN)
        assert branch is not None, "main always exists"
        end = await path_end(tx, draft_id, MAIN, head_floor_id)
        sizes = [outline.size for outline in await tx.prefix_outline(draft_id)] if frozen else []
        before = len(sizes)
        own = await tx.path_outline(draft_id, end.place, 1, end.place.depth)
        sizes += [outline.size for outline in own]
        last = start + fitting(sizes[start : start + size])
        copied = await _frozen(tx, draft_id, start, min(last, before))
        placed = await _own(tx, end, start - before, last - before)
        more = last < len(sizes)
        pending = None
        if not more and branch.pending_floor_id and end.floor_id == branch.head_floor_id:
            pending = await shown(tx, await known_floor(tx, branch.pending_floor_id))
        return Page(end.floor_id, copied, placed, pending, branch, last if more else None)


async def _frozen(tx: ReadTx, draft_id: str, start: int, end: int) -> list[Shown]:
    """The floors of the history from the `start`-th up to the `end`-th, which is not among them."""
    if start >= end:
        return []
    # With the one before, for what was said last there.
    floors = await tx.snapshot_floors(draft_id, start, end)
    previous = last_message(floors.pop(0)) if start > 0 else ""
    found = []
    for floor in floors:
        found.append(Shown(floor, previous))
        previous = last_message(floor) or previous
    return found


async def _own(tx: ReadTx, end: Floor, start: int, last: int) -> list[Placed]:
    first = max(start, 0)
    return await placed_path(tx, end, first + 1, last) if first < last else []
