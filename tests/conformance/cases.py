"""One call of each method of a transaction, on a small world that has a row of everything.

`READS` and `WRITES` name every method of `ReadTx` and `WriteTx`: the suites of tenants and of atomicity
walk them, and fail for a method without a case.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from kernel.storage.store import SqlStore
from kernel.tree.model import Branch, Floor, FloorState, Page, Slot, StateMark
from kernel.tree.places import Link, first_child
from kernel.verbs.path_store import MAX_BODY, ContextRows, PathRows
from kernel.verbs.records import Answer, Request, Run
from kernel.verbs.staged_store import StagedWrite
from kernel.verbs.store import ReadTx, SessionFilter, WriteTx
from tests.conformance import prompts
from tests.conformance.audit_cases import AUDIT_READS, AUDIT_WRITES, insert_audit
from tests.conformance.erasure_cases import ERASURE_WRITES, LOOKS
from tests.conformance.project_cases import PROJECT_READS, PROJECT_WRITES, member
from tests.conformance.run_cases import RUN_READS, RUN_WRITES, insert_log
from tests.conformance.search_cases import SEARCH_READS, SEARCH_WRITES, insert_index
from tests.conformance.staged_cases import STAGED_READS, STAGED_WRITES, entry
from tests.conformance.state_cases import STATE_READS, STATE_WRITES, effects, insert_state
from tests.conformance.world import World, new_world, next_place


@dataclass
class Furnished:
    """A world with committed floors, a fork, a pending floor with versions and a run, a second branch, head
    moves, a leaf that was left, an answered request and events."""

    world: World
    first: Floor
    second: Floor
    fork: Floor
    pending: Floor
    page: Page
    run: Run
    side: Branch
    request: Request
    staged: StagedWrite
    other_staged: StagedWrite

    @property
    def session_id(self) -> str:
        return self.world.session.session_id

    @property
    def project_id(self) -> str:
        return self.world.session.project_id


async def furnished(store: SqlStore, tenant: str | None = None, mark: str = "mark") -> Furnished:
    """The same ids and times for every call: only the tenant and the mark differ."""
    world = await new_world(store, tenant, mark)
    first, second = await world.line(world.root, 2)
    fork = await world.child(world.root, effects=effects("key", f'"{mark}"'), mark=StateMark(None, 1, 9))
    pending = await world.child(second, FloorState.GENERATING, output=None)
    pending = replace(pending, run_id=world.new_id(), failure_reason=mark)
    page = world.page(pending.floor_id, Slot.OUTPUT)
    run = world.run(pending, run_id=pending.run_id)
    now = world.now()
    side = Branch("side", first.floor_id, None, None, 1, 1, now, now)
    request = world.request()
    staged = [entry(world), entry(world, session=False)]

    async def work(tx: WriteTx) -> None:
        await tx.update_pending(pending)
        await tx.insert_page(pending.floor_id, pending.session_id, page)
        await tx.insert_run(run)
        await insert_log(tx, run, mark)
        await tx.insert_prompt(prompts.record(world, pending))
        await tx.insert_branch(first.session_id, side)
        await tx.update_branch(
            first.session_id, world.main, replace(world.main, pending_floor_id=pending.floor_id, version=2)
        )
        await tx.insert_head_move(first.session_id, world.move(first, second))
        await tx.leave(first.session_id, "main", second.floor_id, [Link(0, 1, 2)], 2)
        await tx.record(request, Answer(first.session_id, branch=side))
        tx.emit(world.session.project_id, world.event())
        await tx.set_member(member(world))
        await insert_state(tx, first.session_id, first.floor_id, mark)
        for one in staged:
            await tx.insert_staged_write(one)
        await insert_audit(tx, world)

    await world.write(work)
    # The index follows the feed, whose row it refers to.
    await world.write(lambda tx: insert_index(tx, world.session.project_id, first))
    return Furnished(world, first, second, fork, pending, page, run, side, request, *staged)


Read = Callable[[ReadTx, Furnished], Awaitable[Any]]
Write = Callable[[WriteTx, Furnished], Awaitable[Any]]

# From the root to the second floor.
_LINKS = [Link(0, 0, 2)]


async def _rows(found: Awaitable[PathRows | ContextRows]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in (await found).rows]


READS: dict[str, Read] = {
    "answer": lambda tx, on: tx.answer(on.request),
    "session": lambda tx, on: tx.session(on.session_id),
    "sessions": lambda tx, on: tx.sessions(SessionFilter(), None, 100),
    "project_exists": lambda tx, on: tx.project_exists(on.project_id),
    "branch": lambda tx, on: tx.branch(on.session_id, "main"),
    "branch_head": lambda tx, on: tx.branch_head(on.session_id, "side"),
    "branches": lambda tx, on: tx.branches(on.session_id, "", 100),
    "floor": lambda tx, on: tx.floor(on.first.floor_id),
    "chain": lambda tx, on: tx.chain(on.session_id, on.fork.place),
    "path": lambda tx, on: tx.path(on.session_id, on.second.place, 0, 9),
    "tip": lambda tx, on: tx.tip(on.session_id, "main", ""),
    "basis": lambda tx, on: tx.basis(on.session_id, "main", ""),
    "path_rows": lambda tx, on: _rows(tx.path_rows(on.session_id, _LINKS, MAX_BODY)),
    "context_rows": lambda tx, on: _rows(tx.context_rows(on.session_id, _LINKS, MAX_BODY)),
    "path_bodies": lambda tx, on: tx.path_bodies(on.session_id, on.second.place, 0, 9),
    "siblings_at_forks": lambda tx, on: tx.siblings_at_forks(on.session_id, _LINKS),
    "path_page": lambda tx, on: tx.path_page(
        on.session_id, on.second.place, 0, 9, head_first=False, max_bytes=1
    ),
    "path_outline": lambda tx, on: tx.path_outline(on.session_id, on.second.place, 0, 9),
    "path_siblings": lambda tx, on: tx.path_siblings(on.session_id, on.second.place, 1, 9),
    "children": lambda tx, on: tx.children(on.session_id, on.world.root.place, -1, 100),
    "child_outlines": lambda tx, on: tx.child_outlines(on.session_id, on.world.root.place),
    "child_count": lambda tx, on: tx.child_count(on.session_id, on.world.root.place),
    "next_segment": lambda tx, on: tx.next_segment(on.session_id),
    "tree": lambda tx, on: tx.tree(on.session_id, None, 100),
    "segments": lambda tx, on: tx.segments(on.session_id),
    "version_tokens": lambda tx, on: tx.version_tokens(on.session_id),
    "leaf_left": lambda tx, on: tx.leaf_left(on.session_id, "main", on.first.place),
    "last_leaf": lambda tx, on: tx.last_leaf(on.session_id, on.world.root.place),
    "pages": lambda tx, on: tx.pages(on.pending.floor_id),
    "page_versions": lambda tx, on: tx.page_versions(on.page.page_id),
    "head_moves": lambda tx, on: tx.head_moves(on.session_id, "main", None, 100),
    "prompt": lambda tx, on: tx.prompt(on.pending.floor_id),
    "events": lambda tx, on: tx.events(on.project_id, 0, 100),
    **PROJECT_READS,
    **RUN_READS,
    **SEARCH_READS,
    **STATE_READS,
    **STAGED_READS,
    **AUDIT_READS,
}

# Questions with an answer even where there is nothing: asked only of sessions that exist.
OF_A_KNOWN_SESSION = {"next_segment", "last_leaf"}


async def _insert_session(tx: WriteTx, on: Furnished) -> None:
    await tx.insert_session(*on.world.new_session(on.project_id))


async def _insert_floor(tx: WriteTx, on: Furnished) -> None:
    place = await next_place(tx, on.world.root)
    await tx.insert_floor(on.world.floor(on.world.root, place), place.opens_segment)


async def _emit(tx: WriteTx, on: Furnished) -> None:
    tx.emit(on.project_id, on.world.event())


async def _after_commit(tx: WriteTx, on: Furnished) -> None:
    tx.after_commit(lambda: None)


def _seal(on: Furnished) -> Floor:
    sealed = on.world.floor(on.second, first_child(on.second.place))
    return replace(sealed, floor_id=on.pending.floor_id, place=on.pending.place)


def _moved(on: Furnished) -> tuple[Branch, Branch]:
    return on.side, replace(on.side, head_floor_id=on.second.floor_id, depth=2, version=2)


WRITES: dict[str, Write] = {
    "lock_session": lambda tx, on: tx.lock_session(on.session_id),
    "insert_project": lambda tx, on: tx.insert_project(on.world.new_id(), f"new {on.world.mark}"),
    "insert_session": _insert_session,
    "touch_session": lambda tx, on: tx.touch_session(on.session_id, 5),
    "insert_floor": _insert_floor,
    "update_pending": lambda tx, on: tx.update_pending(_seal(on)),
    "insert_page": lambda tx, on: tx.insert_page(
        on.pending.floor_id, on.session_id, on.world.page(on.pending.floor_id, Slot.INPUT)
    ),
    "insert_branch": lambda tx, on: tx.insert_branch(on.session_id, replace(on.side, name="new")),
    "update_branch": lambda tx, on: tx.update_branch(on.session_id, *_moved(on)),
    "delete_branch": lambda tx, on: tx.delete_branch(on.session_id, "main"),
    "leave": lambda tx, on: tx.leave(on.session_id, "main", on.fork.floor_id, [Link(1, 1, 1)], 9),
    "insert_head_move": lambda tx, on: tx.insert_head_move(on.session_id, on.world.move(on.second, on.fork)),
    "insert_prompt": lambda tx, on: tx.insert_prompt(prompts.record(on.world, on.first, "another")),
    "record": lambda tx, on: tx.record(on.world.request(), Answer(on.session_id)),
    "emit": _emit,
    # Nobody limits anything here; what it writes else: tests/limits.
    "meter": lambda tx, on: tx.meter(on.pending, None, 5),
    "after_commit": _after_commit,
    **PROJECT_WRITES,
    **RUN_WRITES,
    **SEARCH_WRITES,
    **STATE_WRITES,
    **STAGED_WRITES,
    **AUDIT_WRITES,
    **ERASURE_WRITES,
}

# Writes that leave no row by themselves.
WITHOUT_ROWS = {"after_commit", "running_runs", "unsealed", "meter", *LOOKS} | {
    f"lock_{what}"
    for what in ("index", "entries", "session", "project", "live", "run", "staged_write", "audit_head")
}

# What takes rows away that other cases need.
_LAST = ("blank_in", "delete_branch", "erase_entries_of", "erase_rest", "erase_session")


def writes_in_order() -> list[tuple[str, Write]]:
    """All of WRITES so that they can follow each other on one world."""
    return sorted(WRITES.items(), key=lambda case: (case[0] in _LAST, case[0]))


def methods_of(protocol: type) -> set[str]:
    """The names that a Protocol declares, by itself or through those that it extends."""
    declared = [kind for kind in protocol.__mro__ if kind.__module__.startswith("kernel.")]
    return {
        name
        for kind in declared
        for name, value in vars(kind).items()
        if callable(value) and not name.startswith("_")
    }
