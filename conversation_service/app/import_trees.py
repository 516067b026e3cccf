"""From a file's conversation to the rows of a session. Pure but for new ids and the clock."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from conversation_service.domain.exports.model import ExportBranch, ExportFloor, ExportPage
from conversation_service.domain.imports.effects import effects_of
from conversation_service.domain.imports.model import NativeConversation, PlannedTree
from conversation_service.domain.limits import LIMIT, Refused, refuse
from kernel.errors import Exhausted
from kernel.state.fold import UnknownMemory
from kernel.state.model import MemoryOp
from kernel.state.text import effects_from
from kernel.tree.digest import page_digest, sealed_digest
from kernel.tree.model import Branch, Floor, FloorState, Page, Slot, StoredEffects
from kernel.tree.places import ChildPlace, first_child, later_child
from kernel.verbs.effects import stored
from kernel.verbs.env import MAIN, Env
from kernel.verbs.folding import Folded
from kernel.verbs.pages import new_floor, new_page

IMPORTED = "IMPORTED"
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MAX_REASON = 500
# Every engine has these, in every time zone.
_TIMES = (datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Built:
    """A session's tree, parents first; versions are (floor id, number, page). `messages` counts those of
    every page once, however many floors have it."""

    floors: tuple[Floor, ...]
    versions: tuple[tuple[str, int, Page], ...]
    branches: tuple[Branch, ...]
    stored_tokens: int
    messages: int
    # Copies of the state by floor id.
    states: Mapping[str, str] = field(default_factory=dict)


class _Tree:
    """Gives every floor its place, its digest, its path's tokens and state."""

    def __init__(self, env: Env, root: Floor, principal: str) -> None:
        self.env = env
        self.root = root
        self.principal = principal
        self.floors: list[Floor] = []
        # By page: what it costs, and how many messages it has.
        self.tokens: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._children: dict[str, int] = {}
        self._segments = 0
        # By committed floor: its path's state.
        self._folded = {root.floor_id: Folded(root)}
        self.states: dict[str, str] = {}

    def open(self, parent: Floor, branch: str = MAIN) -> Floor:
        return new_floor(self.env, parent, self._place(parent), self.principal, branch)

    def add(self, floor: Floor, parent: Floor) -> Floor:
        """The floor as it is kept: a committed one sealed below its parent."""
        for page in floor.pages:
            self._count(page)
        if floor.state is FloorState.COMMITTED:
            assert parent.digest is not None
            floor = replace(
                floor,
                digest=sealed_digest(parent.digest, floor),
                path_tokens=parent.path_tokens + sum(page.tokens for page in floor.pages),
                commit_time=floor.commit_time or self.env.clock(),
            )
            floor = self._with_state(floor, parent)
        self.floors.append(floor)
        return floor

    def _with_state(self, floor: Floor, parent: Floor) -> Floor:
        try:
            folded = self._folded[parent.floor_id].below(floor)
            folded = folded.settled(self.states)
            self._check(folded, floor.effects)
        except UnknownMemory:
            raise refuse("A floor's effects name an item of memory that is not on their path.") from None
        except Exhausted as error:
            raise Refused(LIMIT, error.message) from None
        self._folded[floor.floor_id] = folded
        return replace(floor, mark=folded.floor.mark)

    def check(self, parent: Floor, page: Page) -> Page:
        """A version of a floor below `parent`. Raises Refused when its effects could not be there."""
        try:
            self._check(
                self._folded[parent.floor_id].below(replace(parent, effects=page.effects)), page.effects
            )
        except UnknownMemory:
            raise refuse("A version's effects name an item of memory that is not on its path.") from None
        return page

    def _check(self, folded: Folded, effects: StoredEffects | None) -> None:
        """Folds what may name an item; all else can be nowhere wrong."""
        if effects is not None and any(
            write.op is not MemoryOp.ADD for write in effects_from(effects.blob).memory
        ):
            folded.state()

    def _count(self, page: Page) -> None:
        self.tokens[page.page_id] = page.tokens
        self._counts[page.page_id] = len(page.content.facts)

    def _place(self, parent: Floor) -> ChildPlace:
        count = self._children.get(parent.floor_id, 0)
        self._children[parent.floor_id] = count + 1
        if count == 0:
            return first_child(parent.place)
        self._segments += 1
        return later_child(parent.place, count - 1, self._segments)

    def built(self, versions: Sequence[tuple[str, int, Page]], branches: Sequence[Branch]) -> Built:
        for _, _, page in versions:
            self._count(page)
        return Built(
            tuple(self.floors),
            tuple(versions),
            tuple(branches),
            sum(self.tokens.values()),
            sum(self._counts.values()),
            self.states,
        )


def build_planned(env: Env, planned: PlannedTree, root: Floor, principal: str) -> Built:
    """The floors that were worked out from a foreign file, all committed, with `main` at its head."""
    tree = _Tree(env, root, principal)
    source = planned.conversation.source
    for plan in planned.floors:
        parent = root if plan.parent_index is None else tree.floors[plan.parent_index]
        floor = tree.open(parent)
        if plan.shares_input_of is not None:
            given = tree.floors[plan.shares_input_of].input
        else:
            content = env.codec.page(plan.input) if plan.input else None
            given = new_page(env, floor.floor_id, Slot.INPUT, content, source=source)
        content = env.codec.page(plan.output) if plan.output else None
        output = new_page(env, floor.floor_id, Slot.OUTPUT, content, source=source)
        floor = replace(floor, input=given, output=output, state=FloorState.COMMITTED)
        tree.add(floor, parent)
    head = root if planned.head is None else tree.floors[planned.head]
    built = tree.built((), (_branch(env, MAIN, head),))
    return replace(built, messages=planned.messages)


def build_native(env: Env, found: NativeConversation, root: Floor, principal: str) -> Built:
    """The session of a `stemma` file as it was: floors in every state, versions, branches.

    Raises Refused for what no session can be: it is not for the digests to say.
    """
    tree, pages = _Tree(env, root, principal), _Pages(env, found.source)
    by_id = {found.tree.root_floor_id: root}
    pending = _pending(found.tree.branches)
    versions: list[tuple[str, int, Page]] = []
    above = _Above(root)
    for floor in found.tree.floors:
        parent = by_id[floor.parent_floor_id]
        opened = tree.open(parent, _branch_of(floor, pending))
        made = _native(floor, opened, pages, still_open=floor.floor_id in pending)
        made = replace(made, effects=above.effects(floor.effects, parent, found.source))
        by_id[floor.floor_id] = made = tree.add(made, parent)
        above.add(made)
        if floor.candidates or made.state is FloorState.OPEN:
            kept = [
                tree.check(
                    parent,
                    replace(
                        pages.page(page, made.floor_id),
                        effects=above.effects(floor.brought.get(page.page_id, ""), parent, found.source),
                    ),
                )
                for page in floor.pages
            ]
            versions += [(made.floor_id, n, page) for n, page in enumerate(kept, 1)]
    branches = [_native_branch(env, branch, by_id) for branch in found.tree.branches]
    return tree.built(versions, branches)


class _Above:
    """The new ids of the floors above a floor, by depth: floors come depth first."""

    def __init__(self, root: Floor) -> None:
        self._ids = [root.floor_id]

    def add(self, floor: Floor) -> None:
        self._ids[floor.place.depth :] = [floor.floor_id]

    def effects(self, text: str, parent: Floor, source: str) -> StoredEffects | None:
        """What a file says that a floor below `parent` does; None for nothing."""
        if not text:
            return None
        found = effects_of(text, parent.place.depth + 1)
        covers = tuple(self._ids[write.covers_depth] for write in found.memory if write.covers_depth)
        return stored(found, source, covers)


def _pending(branches: Sequence[ExportBranch]) -> dict[str, str]:
    """Each branch's name by the id of its pending floor."""
    held = [(branch.pending_floor_id, branch.name) for branch in branches if branch.pending_floor_id]
    found = dict(held)
    if len(found) < len(held):
        raise refuse("Two branches have the same pending floor.")
    return found


def _branch_of(floor: ExportFloor, pending: dict[str, str]) -> str:
    """The branch that the floor was made on. It may be gone by now, but it had a name."""
    name = floor.branch or pending.get(floor.floor_id) or MAIN
    if not _BRANCH.fullmatch(name) or pending.get(floor.floor_id, name) != name:
        raise refuse("A floor is on a branch that cannot be.")
    return name


def _native_branch(env: Env, branch: ExportBranch, by_id: dict[str, Floor]) -> Branch:
    """A floor that was still generated when the file was written has failed here."""
    made = _branch(env, branch.name, by_id[branch.head_floor_id])
    waiting = by_id[branch.pending_floor_id] if branch.pending_floor_id else None
    failed = by_id[branch.failed_floor_id] if branch.failed_floor_id else None
    if waiting is not None and waiting.state is FloorState.FAILED:
        waiting, failed = None, waiting
    if waiting is not None and waiting.state is not FloorState.OPEN:
        raise refuse("A branch's pending floor is not pending.")
    if failed is not None and failed.state is not FloorState.FAILED:
        raise refuse("A branch's failed floor has not failed.")
    return replace(
        made,
        pending_floor_id=waiting.floor_id if waiting else None,
        failed_floor_id=failed.floor_id if failed else None,
    )


class _Pages:
    """A page of the file becomes one page here, however many floors have it. Its source says that it
    was imported, whatever the file says: a file is anybody's word."""

    def __init__(self, env: Env, source: str) -> None:
        self._env = env
        self._source = source
        self._known: dict[str, Page] = {}

    def page(self, page: ExportPage, floor_id: str) -> Page:
        if page.page_id not in self._known:
            content = self._env.codec.page(page.messages)
            self._known[page.page_id] = Page(
                self._env.new_id(),
                floor_id,
                page.slot,
                content,
                page_digest(page.slot, page.partial, content.blob),
                content.tokens,
                page.partial,
                self._source,
                self._env.clock(),
            )
        return self._known[page.page_id]


def _native(floor: ExportFloor, opened: Floor, pages: _Pages, *, still_open: bool) -> Floor:
    """A floor that was being generated, or is open on no branch, has failed here."""
    state = floor.state
    if state is FloorState.GENERATING or (state is FloorState.OPEN and not still_open):
        state = FloorState.FAILED
    reason = (floor.failure_reason or IMPORTED) if state is FloorState.FAILED else ""
    if len(reason) > _MAX_REASON:
        raise refuse(f"A floor's failure has a reason of more than {_MAX_REASON} characters.")
    return replace(
        opened,
        state=state,
        input=pages.page(floor.input, opened.floor_id) if floor.input else None,
        output=pages.page(floor.output, opened.floor_id) if floor.output else None,
        usage=floor.usage,
        failure_reason=reason,
        create_time=_time(floor.create_time) or opened.create_time,
        commit_time=_time(floor.commit_time) if state is FloorState.COMMITTED else None,
    )


def _time(text: str) -> datetime | None:
    """With a zone: without one, a time is none."""
    try:
        time = datetime.fromisoformat(text) if text else None
        if time is None or _TIMES[0] <= time <= _TIMES[1]:
            return time
    except (ValueError, TypeError):
        pass
    raise refuse("A floor's time is none.")


def _branch(env: Env, name: str, head: Floor) -> Branch:
    now = env.clock()
    return Branch(name, head.floor_id, None, None, head.place.depth, 1, now, now)
