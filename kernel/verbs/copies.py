"""Copying a committed path into another session."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kernel.state.text import effects_from
from kernel.tree.model import Floor, FloorOutline, Page, Place, StoredEffects
from kernel.verbs.env import MAIN, Env, WriteTx
from kernel.verbs.folding import Folded

# One round of reading and writing: enough that a long path takes few, little enough to be held.
_BATCH_FLOORS = 500
_BATCH_BYTES = 8 * 1024 * 1024


async def copy_path(tx: WriteTx, env: Env, end: Floor, root: Floor) -> Floor:
    """The path to `end`, below another session's root and in its segment: new ids, equal content and
    digests, the same people and times; and the state that it folds to. -> the copy of `end`

    Takes a few statements for every 500 floors or 8 MiB. Reading checks the pages' digests.
    """
    parent, folded = root, Folded(root)
    # By depth, for what names a floor above.
    ids = [root.floor_id]
    outlines = await tx.path_outline(end.session_id, end.place, 1, end.place.depth)
    for first, last in batches(outlines, _BATCH_FLOORS, _BATCH_BYTES):
        copies: list[Floor] = []
        states: dict[str, str] = {}
        for floor in await tx.path(end.session_id, end.place, first, last):
            made = _copy(env, floor, parent, ids)
            folded = folded.below(made).settled(states)
            parent = replace(made, mark=folded.floor.mark)
            ids.append(parent.floor_id)
            copies.append(parent)
        await tx.insert_floors(copies)
        await tx.insert_state_copies(root.session_id, states)
    return parent


def batches(outlines: Sequence[FloorOutline], floors: int, max_bytes: int) -> Iterator[tuple[int, int]]:
    """The first and the last depth of each round: at most so many floors with so many bytes, or one."""
    start, size = 0, 0
    for index, outline in enumerate(outlines):
        full = index - start >= floors or size + outline.size > max_bytes
        if full and index > start:
            yield outlines[start].depth, outlines[index - 1].depth
            start, size = index, 0
        size += outline.size
    if outlines:
        yield outlines[start].depth, outlines[-1].depth


def _copy(env: Env, floor: Floor, parent: Floor, ids: Sequence[str]) -> Floor:
    floor_id = env.new_id()
    return replace(
        floor,
        floor_id=floor_id,
        session_id=parent.session_id,
        parent_floor_id=parent.floor_id,
        parent_segment=parent.place.segment,
        place=Place(parent.place.segment, parent.place.depth + 1),
        ordinal=0,
        input=_page(env, floor.input, floor_id),
        output=_page(env, floor.output, floor_id),
        # The run stays with the session that it ran in.
        run_id=None,
        branch=MAIN,
        effects=_effects(floor.effects, ids),
    )


def _effects(effects: StoredEffects | None, ids: Sequence[str]) -> StoredEffects | None:
    """The same bytes; the floors that they know by depth are the copies."""
    if effects is None or not effects.covers:
        return effects
    writes = effects_from(effects.blob).memory
    return replace(effects, covers=tuple(ids[write.covers_depth] for write in writes if write.covers_depth))


def _page(env: Env, page: Page | None, floor_id: str) -> Page | None:
    return None if page is None else replace(page, page_id=env.new_id(), floor_id=floor_id)
