"""Re-derives what a session's rows must say, and names what disagrees (C5). Repair writes derived columns
anew, and nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kernel.tree.digest import ROOT_DIGEST, page_holds, sealed_digest
from kernel.tree.model import Floor, FloorState, HeadMove, Page, Place
from kernel.tree.places import Segment
from kernel.verbs.env import Caller, Env, ReadTx, WriteTx, known_session
from kernel.verbs.folding import Folded
from kernel.verbs.records import Session
from kernel.verbs.verify_state import Fault, StateCheck

_CHUNK = 200
_MOVES = 1_000


@dataclass(frozen=True, slots=True)
class Problem:
    """What disagrees, and where. `kind` is a word for machines, `text` a sentence for people."""

    kind: str
    text: str
    floor_id: str = ""
    page_id: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """What disagreed, and how many rows a repair wrote anew."""

    problems: list[Problem]
    repaired: int = 0


@dataclass(frozen=True, slots=True)
class _Known:
    """What is kept of a floor that was looked at: enough for its children and its branches."""

    place: Place
    digest: bytes | None
    path_tokens: int
    state: FloorState
    branch: str
    # With the path_tokens and the mark that it must have; None for one that is not committed.
    folded: Folded | None


@dataclass
class _Seen:
    segments: dict[int, Segment]
    states: StateCheck
    # Floors with what must be written anew.
    wrong: list[Floor] = field(default_factory=list)
    floors: dict[str, _Known] = field(default_factory=dict)
    ordinals: set[tuple[str, int]] = field(default_factory=set)
    page_tokens: dict[str, int] = field(default_factory=dict)


async def verify_session(env: Env, caller: Caller, session_id: str, *, repair: bool = False) -> Verified:
    """Every digest, depth, place, count, head, move, mark and copy of a session, in one snapshot.

    Memory is a few hundred bytes a floor, and what floors wrote since the last copy of the state; bodies
    are read in small chunks. `repair` writes counts, marks and copies anew, with the session locked.
    """
    if not repair:
        async with env.store.reading(caller.tenant_id) as tx:
            problems, _, _ = await _verified(tx, await known_session(tx, session_id))
            return Verified(problems)

    async def attempt(tx: WriteTx) -> Verified:
        await tx.lock_session(session_id)
        session = await known_session(tx, session_id)
        return await repaired_in(tx, session)

    return await env.store.write(caller.tenant_id, attempt, session_id)


async def repaired_in(tx: WriteTx, session: Session) -> Verified:
    """What disagreed in a locked session, and is written anew."""
    problems, seen, stored_tokens = await _verified(tx, session)
    return Verified(problems, await _repaired(tx, session, seen, stored_tokens))


async def _verified(tx: ReadTx, session: Session) -> tuple[list[Problem], _Seen, int]:
    """-> the problems, what was seen, and what the session's stored_tokens must be."""
    session_id = session.session_id
    copies = await tx.state_copies(session_id)
    seen = _Seen({s.segment: s for s in await tx.segments(session_id)}, StateCheck(copies))
    problems: list[Problem] = []
    after: Place | None = None
    while floors := await tx.tree(session_id, after, _CHUNK, bodies=True):
        for floor in floors:
            problems += _check_floor(floor, seen)
        after = floors[-1].place
    for floor_id in seen.states.copies:
        problems.append(Problem("state_copy", "A copy of the state is at no floor with effects.", floor_id))
    tokens = sum((seen.page_tokens | await tx.version_tokens(session_id)).values())
    if tokens != session.stored_tokens:
        text = f"The session counts {session.stored_tokens} tokens, its pages {tokens}."
        problems.append(Problem("stored_tokens", text))
    layer = (await tx.live_layers(session_id))[session_id]
    if any(row.version > layer.version for row in layer.values):
        problems.append(Problem("live_values", "A live value is newer than the layer of them all."))
    problems += await _check_branches(tx, session, seen)
    return problems, seen, tokens


async def _repaired(tx: WriteTx, session: Session, seen: _Seen, stored_tokens: int) -> int:
    count = len(seen.wrong)
    for floor in seen.wrong:
        await tx.update_derived(floor)
    known, derived = await tx.state_copies(session.session_id), seen.states.derived
    if known != derived:
        count += len(set(known.items()) ^ set(derived.items()))
        await tx.delete_state_copies(session.session_id)
        await tx.insert_state_copies(session.session_id, derived)
    if session.stored_tokens != stored_tokens:
        await tx.update_stored_tokens(session.session_id, stored_tokens)
        count += 1
    return count


def _check_floor(floor: Floor, seen: _Seen) -> Iterator[Problem]:
    for page in floor.pages:
        seen.page_tokens[page.page_id] = page.tokens
        yield from _check_page(floor, page)
    folded, faults = _folded(floor, seen)
    for kind, text in faults:
        yield Problem(kind, text, floor.floor_id)
    if folded is not None and folded.floor != _derived_of(floor, folded):
        seen.wrong.append(folded.floor)
    if floor.is_root:
        if floor.digest != ROOT_DIGEST or floor.place != Place(0, 0):
            yield Problem("root", "The root's digest or place is wrong.", floor.floor_id)
    else:
        yield from _check_below(floor, seen)
    seen.floors[floor.floor_id] = _Known(
        floor.place, floor.digest, floor.path_tokens, floor.state, floor.branch, folded
    )


def _folded(floor: Floor, seen: _Seen) -> tuple[Folded | None, list[Fault]]:
    """A committed floor with all that is derived from those above it; None for another."""
    if floor.is_root:
        return seen.states.root(floor)
    parent = seen.floors.get(floor.parent_floor_id or "")
    if floor.state is not FloorState.COMMITTED or parent is None or parent.folded is None:
        return None, []
    folded, faults = seen.states.below(parent.folded, floor)
    tokens = parent.folded.floor.path_tokens + sum(page.tokens for page in floor.pages)
    return replace(folded, floor=replace(folded.floor, path_tokens=tokens)), faults


def _derived_of(floor: Floor, folded: Folded) -> Floor:
    """The floor with what is stored of it, to compare with what must be."""
    return replace(folded.floor, path_tokens=floor.path_tokens, mark=floor.mark)


def _check_page(floor: Floor, page: Page) -> Iterator[Problem]:
    if not page_holds(page.slot, page.partial, page.content.blob, page.digest):
        yield Problem("page_digest", "The page's bytes fail their digest.", floor.floor_id, page.page_id)
    if sum(fact.tokens for fact in page.content.facts) != page.tokens:
        yield Problem(
            "page_tokens", "The page's token count is not its messages'.", floor.floor_id, page.page_id
        )


def _check_below(floor: Floor, seen: _Seen) -> Iterator[Problem]:
    parent = seen.floors.get(floor.parent_floor_id or "")
    if parent is None:
        yield Problem("parent", "The floor's parent is missing or comes after it.", floor.floor_id)
        return
    if parent.state is not FloorState.COMMITTED:
        yield Problem("parent", "The floor hangs on a floor that is not committed.", floor.floor_id)
    if floor.place.depth != parent.place.depth + 1 or floor.parent_segment != parent.place.segment:
        yield Problem("depth", "The floor is not one below its parent.", floor.floor_id)
    if not _fits_segment(floor, parent.place, seen.segments):
        yield Problem("segment", "The floor's segment does not hang on its parent.", floor.floor_id)
    key = (floor.parent_floor_id or "", floor.ordinal)
    if key in seen.ordinals:
        yield Problem("ordinal", "Two children of one parent have the same ordinal.", floor.floor_id)
    seen.ordinals.add(key)
    if floor.state is FloorState.COMMITTED:
        yield from _check_sealed(floor, parent)


def _fits_segment(floor: Floor, parent: Place, segments: dict[int, Segment]) -> bool:
    if floor.place.segment == parent.segment:
        return floor.ordinal == 0
    segment = segments.get(floor.place.segment)
    return segment is not None and (segment.parent_segment, segment.parent_depth) == (
        parent.segment,
        parent.depth,
    )


def _check_sealed(floor: Floor, parent: _Known) -> Iterator[Problem]:
    if not (floor.pages or floor.effects) or floor.commit_time is None:
        yield Problem("sealed", "A committed floor holds nothing, or has no commit time.", floor.floor_id)
    if floor.digest != sealed_digest(parent.digest or b"", floor):
        yield Problem("floor_digest", "The floor's digest is not its history's.", floor.floor_id)
    if floor.path_tokens != parent.path_tokens + sum(page.tokens for page in floor.pages):
        yield Problem("path_tokens", "The floor's path_tokens are not its path's.", floor.floor_id)


async def _check_branches(tx: ReadTx, session: Session, seen: _Seen) -> list[Problem]:
    problems: list[Problem] = []
    after = ""
    while branches := await tx.branches(session.session_id, after, _CHUNK):
        for branch in branches:
            head = seen.floors.get(branch.head_floor_id)
            if head is None or head.state is not FloorState.COMMITTED or head.place.depth != branch.depth:
                text = f"Branch {branch.name}: its head is no committed floor of its depth."
                problems.append(Problem("head", text, branch.head_floor_id))
            pending = seen.floors.get(branch.pending_floor_id or "")
            if branch.pending_floor_id and (
                pending is None or not pending.state.pending or pending.branch != branch.name
            ):
                text = f"Branch {branch.name}: its pending floor is not pending, or another's."
                problems.append(Problem("pending", text, branch.pending_floor_id))
            moves = await tx.head_moves(session.session_id, branch.name, None, _MOVES)
            problems += _check_moves(branch.name, branch.head_floor_id, [move for _, move in moves])
        after = branches[-1].name
    return problems


def _check_moves(name: str, head: str, newest_first: list[HeadMove]) -> Iterator[Problem]:
    """The moves lead to the head, each from where the one before it ended.

    A branch that was deleted and made again starts anew, so the chain may break there once; only
    the newest move is certain.
    """
    if newest_first and newest_first[0].to_floor_id != head:
        yield Problem("head_moves", f"Branch {name}: its last recorded move does not end at its head.", head)
