"""Two branches: where they part, and a fast-forward of one to the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kernel.errors import FailedPrecondition, NotFound
from kernel.tree.model import Branch, Floor, Place
from kernel.tree.places import Chain, on_path
from kernel.verbs.answers import Answered, Shown, before, in_session, last_message
from kernel.verbs.env import Caller, Env, ReadTx, Target, Write, WriteTx, known_session
from kernel.verbs.moves import head_floor, known_branch, move_head
from kernel.verbs.pending import free_branch
from kernel.verbs.queries import fitting, known_floor
from kernel.verbs.records import Answer, Session

MERGE = "merge"


class Mark(NamedTuple):
    """Where a page of a diff goes on: both heads as they were, and how many floors came before."""

    base_head: str
    target_head: str
    seen: int


@dataclass(frozen=True, slots=True)
class DiffQuery:
    """`after` comes from the page before."""

    session_id: str
    base: str
    target: str
    page_size: int
    after: Mark | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """`fork` is the last floor of both paths. `base` and `target`: a page of what each has below it."""

    fork: Floor
    base_head: Floor
    target_head: Floor
    base: tuple[Shown, ...]
    target: tuple[Shown, ...]
    next: Mark | None


def fork_place(one: Chain, other: Chain) -> Place:
    """The last place that two paths share; both begin at the root."""
    shared = Place(0, 0)
    for left, right in zip(one, other, strict=False):
        if left.segment != right.segment:
            break
        shared = Place(left.segment, min(left.last, right.last))
        if left.last != right.last:
            break
    return shared


async def diff_branches(env: Env, caller: Caller, query: DiffQuery) -> Diff:
    """At most `page_size` floors and 3 MiB, the base's first; at least one floor when there is any."""
    async with env.store.reading(caller.tenant_id) as tx:
        await known_session(tx, query.session_id)
        base, target = await _heads(tx, query)
        place = fork_place(
            await tx.chain(query.session_id, base.place), await tx.chain(query.session_id, target.place)
        )
        (fork,) = await tx.path(query.session_id, place, place.depth, place.depth)
        seen = query.after.seen if query.after else 0
        room = _Room(query.page_size)
        own = await _side(tx, fork, base, seen, room)
        base_count = base.place.depth - place.depth
        others: Sequence[Shown] = ()
        if seen + len(own) >= base_count:
            others = await _side(tx, fork, target, max(0, seen - base_count), room)
        seen += len(own) + len(others)
        more = seen < base_count + target.place.depth - place.depth
        mark = Mark(base.floor_id, target.floor_id, seen) if more else None
        return Diff(fork, base, target, tuple(own), tuple(others), mark)


async def _heads(tx: ReadTx, query: DiffQuery) -> tuple[Floor, Floor]:
    if query.after is not None:
        base = await known_floor(tx, query.after.base_head, query.session_id)
        return base, await known_floor(tx, query.after.target_head, query.session_id)
    heads = []
    for name in (query.base, query.target):
        found = await tx.branch_head(query.session_id, name)
        if found is None:
            raise NotFound("branch")
        heads.append(found[1])
    return heads[0], heads[1]


@dataclass(slots=True)
class _Room:
    """How many floors a page still takes, and what it has of bytes; its first floor always fits."""

    floors: int
    used: int = 0
    begun: bool = False


async def _side(tx: ReadTx, fork: Floor, head: Floor, skip: int, room: _Room) -> list[Shown]:
    first = fork.place.depth + 1 + skip
    last = min(head.place.depth, first + room.floors - 1)
    if last < first:
        return []
    sizes = [outline.size for outline in await tx.path_outline(head.session_id, head.place, first, last)]
    count = fitting(sizes, room.used, at_least=0 if room.begun else 1)
    if not count:
        room.floors = 0
        return []
    floors = await tx.path(head.session_id, head.place, first, first + count - 1)
    room.begun, room.used = True, room.used + sum(sizes[:count])
    # What did not fit comes on the next page, before anything of the other side.
    room.floors = room.floors - count if count == len(sizes) else 0
    previous, shown = await before(tx, floors[0]), []
    for floor in floors:
        shown.append(Shown(floor, previous))
        previous = last_message(floor) or previous
    return shown


async def merge_branch(env: Env, write: Write, target: Target, source: str) -> Answered:
    """Fast-forward of the target branch to the source's head; NOT_FAST_FORWARD when that is not ahead."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        branch = await free_branch(tx, env, session, target)
        ahead = await known_branch(tx, Target(session.session_id, source))
        head, to = await head_floor(tx, branch), await head_floor(tx, ahead)
        if head.floor_id != to.floor_id:
            if not on_path(await tx.chain(session.session_id, to.place), head.place):
                raise _not_fast_forward(branch, ahead)
            branch = await move_head(tx, env, session, branch, to, MERGE, write.caller.principal)
            await tx.touch_session(session.session_id, 0)
        return Answer(session.session_id, branch=branch)

    return await in_session(env, write, target.session_id, work)


def _not_fast_forward(branch: Branch, source: Branch) -> FailedPrecondition:
    return FailedPrecondition(
        "NOT_FAST_FORWARD",
        "The branch has turns that the source branch does not have.",
        {"current_head": branch.head_floor_id, "source_head": source.head_floor_id},
    )
