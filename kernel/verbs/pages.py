"""Making pages and floors out of what a caller brings."""

from collections.abc import Iterable
from dataclasses import replace

from kernel.errors import invalid
from kernel.tree.digest import ABSENT, ROOT_DIGEST, floor_digest, page_digest, sealed_digest
from kernel.tree.model import (
    Floor,
    FloorState,
    Page,
    PageContent,
    Place,
    Slot,
    StateMark,
    StoredEffects,
    Usage,
)
from kernel.tree.places import ChildPlace, first_child, later_child
from kernel.verbs.env import Env, ReadTx

# What both pages and the effects of a floor may take when they are shown: an answer has at most 4 MiB.
MAX_SHOWN = 4 * 1024 * 1024 - 64 * 1024
# Ids and counts, per message.
_MESSAGE_FRAME = 128
# What the state keeps of a write besides its own words: ids of floors and messages, a source.
_WRITE_FRAME = 256

CLIENT = "client"
MODEL = "model"


def new_page(
    env: Env,
    floor_id: str,
    slot: Slot,
    content: PageContent | None,
    *,
    page_id: str = "",
    partial: bool = False,
    source: str = CLIENT,
) -> Page | None:
    """A page of its own for a floor; None for no messages."""
    if content is None or not content.facts:
        return None
    return Page(
        page_id or env.new_id(),
        floor_id,
        slot,
        content,
        page_digest(slot, partial, content.blob),
        content.tokens,
        partial,
        source,
        env.clock(),
    )


async def child_place(tx: ReadTx, parent: Floor) -> ChildPlace:
    """The place for another child. Two callers may be told the same: the store lets one have it."""
    count = await tx.child_count(parent.session_id, parent.place)
    if count == 0:
        return first_child(parent.place)
    return later_child(parent.place, count - 1, await tx.next_segment(parent.session_id))


def new_floor(
    env: Env, parent: Floor, place: ChildPlace, principal: str, branch: str, *, floor_id: str = ""
) -> Floor:
    """An OPEN floor without pages."""
    return Floor(
        floor_id=floor_id or env.new_id(),
        session_id=parent.session_id,
        parent_floor_id=parent.floor_id,
        parent_segment=parent.place.segment,
        place=place.place,
        ordinal=place.ordinal,
        state=FloorState.OPEN,
        input=None,
        output=None,
        digest=None,
        path_tokens=0,
        usage=None,
        run_id=None,
        failure_reason="",
        principal=principal,
        create_time=env.clock(),
        commit_time=None,
        branch=branch,
    )


def new_root(env: Env, session_id: str, floor_id: str, principal: str) -> Floor:
    now = env.clock()
    return Floor(
        floor_id=floor_id,
        session_id=session_id,
        parent_floor_id=None,
        parent_segment=None,
        place=Place(0, 0),
        ordinal=0,
        state=FloorState.COMMITTED,
        input=None,
        output=None,
        digest=ROOT_DIGEST,
        path_tokens=0,
        usage=None,
        run_id=None,
        failure_reason="",
        principal=principal,
        create_time=now,
        commit_time=now,
        branch="",
    )


def with_output(floor: Floor, page: Page) -> Floor:
    """The floor with a version as its output: the effects are those that the version brought."""
    return replace(floor, output=replace(page, effects=None), effects=page.effects)


def shown_size(pages: Iterable[Page | None], effects: StoredEffects | None = None) -> int:
    """Bytes of the pages and the effects in an answer, at most."""
    size = len(effects.blob) if effects else 0
    for page in pages:
        if page is not None:
            size += len(page.content.blob) + _MESSAGE_FRAME * len(page.content.facts)
    return size


def showable(floor: Floor) -> Floor:
    """The floor; INVALID when what it holds does not fit one answer: what could not be shown is not
    stored."""
    _check_size(floor.pages, floor.effects)
    return floor


def _check_size(pages: Iterable[Page | None], effects: StoredEffects | None) -> None:
    if shown_size(pages, effects) > MAX_SHOWN:
        raise invalid("output", "input, output and effects of a floor take at most 3.9 MiB together")


def _check_whole(input: Page | None, output: Page | None, effects: StoredEffects | None) -> None:
    if input is None and output is None and effects is None:
        raise invalid("input", "a floor needs an input, an output or effects")
    _check_size((input, output), effects)


def committed_floor(
    env: Env,
    parent: Floor,
    place: ChildPlace,
    principal: str,
    branch: str,
    floor_id: str,
    held: tuple[Page | None, Page | None, Usage | None, StoredEffects | None],
) -> Floor:
    """What `sealed` makes of a new floor that holds an input, an output, usage and effects, in one go."""
    input, output, usage, effects = held
    _check_whole(input, output, effects)
    assert parent.digest is not None
    now = env.clock()
    tokens = (input.tokens if input else 0) + (output.tokens if output else 0)
    return Floor(
        floor_id,
        parent.session_id,
        parent.floor_id,
        parent.place.segment,
        place.place,
        place.ordinal,
        FloorState.COMMITTED,
        input,
        output,
        floor_digest(parent.digest, input, output, effects.digest if effects else ABSENT),
        parent.path_tokens + tokens,
        usage,
        None,
        "",
        principal,
        now,
        now,
        branch,
        effects,
        mark_below(parent, effects),
    )


def sealed(env: Env, floor: Floor, parent: Floor) -> Floor:
    """The floor as committed below its parent; INVALID when it holds nothing, or too much."""
    _check_whole(floor.input, floor.output, floor.effects)
    assert parent.digest is not None
    return replace(
        floor,
        state=FloorState.COMMITTED,
        digest=sealed_digest(parent.digest, floor),
        mark=mark_below(parent, floor.effects),
        path_tokens=parent.path_tokens + sum(page.tokens for page in floor.pages),
        commit_time=env.clock(),
    )


def mark_below(parent: Floor, effects: StoredEffects | None) -> StateMark:
    """Where the state of a child is found, with nothing folded."""
    above, mark = parent.floor_id if parent.effects else parent.mark.above_id, parent.mark
    if effects is None:
        return StateMark(above, mark.debt, mark.size)
    size = mark.size + len(effects.blob) + _WRITE_FRAME * sum(effects.counts)
    return StateMark(above, mark.debt + 1, size)


def own_tokens(floor: Floor, pages: Iterable[Page | None] | None = None) -> int:
    """Tokens of the pages that were first written here: what the floor adds to the store."""
    given = floor.pages if pages is None else pages
    return sum(page.tokens for page in given if page is not None and page.floor_id == floor.floor_id)
