"""Reading a tree: floors with the numbers beside them, paths page by page."""

from dataclasses import dataclass

from kernel.errors import FailedPrecondition, NotFound
from kernel.tree.model import Floor, FloorState, Page, Position
from kernel.tree.places import on_path
from kernel.tree.positions import Sibling, positions
from kernel.verbs.answers import Shown, before, last_message, shown
from kernel.verbs.env import Caller, Env, ReadTx, known_session

PAGE_BYTES = 3 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Placed:
    """A floor and its position."""

    shown: Shown
    position: Position


async def known_floor(tx: ReadTx, floor_id: str, session_id: str = "") -> Floor:
    floor = await tx.floor(floor_id)
    if floor is None or (session_id and floor.session_id != session_id):
        raise NotFound("floor")
    return floor


async def path_end(tx: ReadTx, session_id: str, branch_name: str, floor_id: str) -> Floor:
    """The committed floor that a path ends at: the named one, or the branch's head."""
    await known_session(tx, session_id)
    if not floor_id:
        branch = await tx.branch(session_id, branch_name)
        if branch is None:
            raise NotFound("branch")
        floor_id = branch.head_floor_id
    floor = await known_floor(tx, floor_id, session_id)
    if floor.state is not FloorState.COMMITTED:
        raise FailedPrecondition(
            "FLOOR_FAILED" if floor.state is FloorState.FAILED else "FLOOR_PENDING",
            "A path ends at a committed floor or the root.",
            {"pending_floor_id": floor.floor_id} if floor.state.pending else {},
        )
    return floor


def fitting(sizes: list[int], used: int = 0, at_least: int = 1) -> int:
    """How many of the first fit into an answer that holds `used` bytes already."""
    total = used
    for count, size in enumerate(sizes):
        total += size
        if total > PAGE_BYTES and count >= at_least:
            return count
    return len(sizes)


async def placed_path(tx: ReadTx, end: Floor, low: int, high: int) -> list[Placed]:
    """The floors of the path to `end` with low <= depth <= high, of which there is one, by depth."""
    floors = await tx.path(end.session_id, end.place, low, high)
    siblings: dict[str, list[Sibling]] = {}
    for parent_id, sibling in await tx.path_siblings(end.session_id, end.place, low, high):
        siblings.setdefault(parent_id, []).append(sibling)
    numbers = {k: v for group in siblings.values() for k, v in positions(group).items()}
    previous = await before(tx, floors[0])
    placed = []
    for floor in floors:
        placed.append(Placed(Shown(floor, previous), numbers[floor.floor_id]))
        previous = last_message(floor) or previous
    return placed


async def get_floor(env: Env, caller: Caller, floor_id: str) -> Placed:
    async with env.store.reading(caller.tenant_id) as tx:
        floor = await known_floor(tx, floor_id)
        if floor.is_root or floor.state is not FloorState.COMMITTED:
            return Placed(await shown(tx, floor), Position(floor.floor_id))
        (placed,) = await placed_path(tx, floor, floor.place.depth, floor.place.depth)
        return placed


@dataclass(frozen=True, slots=True)
class Siblings:
    """Committed children of one parent. `last_ordinal` is where the next page goes on, if any."""

    placed: tuple[Placed, ...]
    current_floor_id: str
    last_ordinal: int | None


async def list_siblings(
    env: Env, caller: Caller, floor_id: str, branch_name: str, after: int, limit: int
) -> Siblings:
    """The committed children of the floor's parent after an ordinal, and which is on the branch."""
    async with env.store.reading(caller.tenant_id) as tx:
        floor = await known_floor(tx, floor_id)
        branch = await tx.branch(floor.session_id, branch_name)
        if branch is None:
            raise NotFound("branch")
        if floor.is_root:
            return Siblings((Placed(Shown(floor, ""), Position(floor.floor_id)),), floor.floor_id, None)
        parent = await known_floor(tx, floor.parent_floor_id or "")
        everyone = await tx.child_outlines(floor.session_id, parent.place)
        numbers = positions(sibling for sibling, _, _ in everyone)
        later = [(sibling, size) for sibling, _, size in everyone if sibling.ordinal > after]
        count = fitting([size for _, size in later[:limit]])
        found = await tx.children(floor.session_id, parent.place, after, count) if count else []
        head = await known_floor(tx, branch.head_floor_id)
        chain = await tx.chain(floor.session_id, head.place)
        current = next((s.floor_id for s, place, _ in everyone if on_path(chain, place)), "")
        previous = last_message(parent) or await before(tx, parent)
        placed = tuple(Placed(Shown(f, previous), numbers[f.floor_id]) for f in found)
        return Siblings(placed, current, found[-1].ordinal if count < len(later) else None)


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of a floor's pages by number, and the message before the floor's first."""

    floor: Floor
    before: str
    pages: tuple[tuple[int, Page], ...]
    more: bool


async def list_pages(env: Env, caller: Caller, floor_id: str, after: int, limit: int) -> Versions:
    """Those with a number above `after`, as many as fit an answer.

    A floor that was committed at once has its two pages and no other version.
    """
    async with env.store.reading(caller.tenant_id) as tx:
        floor = await known_floor(tx, floor_id)
        versions = await tx.pages(floor_id)
        known = {page.page_id for _, page in versions}
        last = versions[-1][0] if versions else 0
        unversioned = [page for page in floor.pages if page.page_id not in known]
        versions += list(enumerate(unversioned, last + 1))
        later = [(number, page) for number, page in versions if number > after]
        found = later[: fitting([len(page.content.blob) for _, page in later[:limit]])]
        return Versions(floor, await before(tx, floor), tuple(found), len(found) < len(later))
