"""Effects on their way in: checked against the path, stored with a floor or a version, and applied.

They are visible with the commit of their floor, all or none (C1).
"""

from dataclasses import dataclass, replace
from hashlib import sha256
from uuid import UUID

from kernel.errors import Exhausted, NotFound, invalid
from kernel.state.fold import UnknownMemory, apply
from kernel.state.limits import COPY_EVERY, MAX_LIVE_SIZE, MAX_LIVE_VALUES, MAX_STATE
from kernel.state.model import Effects, MemoryOp, MemoryWrite, Scope, State
from kernel.state.text import effects_from, effects_text, state_text
from kernel.tree.digest import effects_digest
from kernel.tree.model import Floor, StoredEffects
from kernel.tree.places import on_path
from kernel.verbs.env import Env, ReadTx, WriteTx
from kernel.verbs.pages import CLIENT, sealed
from kernel.verbs.records import Session
from kernel.verbs.state import origin_of, path_state


@dataclass(frozen=True, slots=True)
class Given:
    """Effects as they are brought: added items have no id yet, and `covers` names, for each memory
    write, the floor that it covers to; "" for none."""

    effects: Effects
    covers: tuple[str, ...]
    source: str = CLIENT

    @property
    def plain(self) -> bool:
        """Whether nothing of the path or the live values is needed to take them."""
        return not (
            self.effects.live
            or any(self.covers)
            or any(write.op is not MemoryOp.ADD for write in self.effects.memory)
        )


def stored(effects: Effects, source: str, covers: tuple[str, ...] = ()) -> StoredEffects:
    """As they are kept; `covers` has the ids that go with the depths, in order."""
    blob = effects_text(effects)
    counts = len(effects.variables), len(effects.memory), len(effects.slots)
    return StoredEffects(blob, effects_digest(blob), source, counts, covers)


def plain(parent: Floor, given: Given | None) -> StoredEffects | None:
    """Plain effects below a parent; None for none."""
    if given is None or not given.effects:
        return None
    return stored(identified(parent, given.effects), given.source)


def identified(parent: Floor, effects: Effects) -> Effects:
    """With an id for each added item, from the parent's digest and what it says: equal content has equal
    ids, and so equal digests."""
    memory = tuple(
        replace(write, memory_id=_memory_id(parent, index, write)) if write.op is MemoryOp.ADD else write
        for index, write in enumerate(effects.memory)
    )
    return replace(effects, memory=memory)


def _memory_id(parent: Floor, index: int, write: MemoryWrite) -> str:
    said = effects_text(Effects(memory=(replace(write, memory_id=""),)))
    assert parent.digest is not None
    digest = sha256(b"stemma.memory.1" + parent.digest + index.to_bytes(4, "big") + said).digest()
    return str(UUID(bytes=digest[:16], version=5))


def due(floor: Floor) -> bool:
    """Whether a floor that is sealed must keep a copy of the state."""
    return floor.effects is not None and (floor.mark.debt >= COPY_EVERY or floor.mark.size > MAX_STATE)


async def checked(tx: ReadTx, parent: Floor, given: Given | None) -> StoredEffects | None:
    """What would be written below the parent; None for nothing.

    NOT_FOUND for an item that is not on the path, or is deprecated; INVALID for a covered floor that is
    not on it.
    """
    if given is None or not given.effects:
        return None
    depths = [
        await _depth(tx, parent, floor_id, index) if floor_id else 0
        for index, floor_id in enumerate(given.covers)
    ]
    memory = tuple(
        replace(write, covers_depth=depth) for write, depth in zip(given.effects.memory, depths, strict=True)
    )
    effects = identified(parent, replace(given.effects, memory=memory))
    found = stored(effects, given.source, tuple(filter(None, given.covers)))
    if any(write.op is not MemoryOp.ADD for write in memory):
        try:
            apply(await path_state(tx, parent), effects, origin_of("", "", found))
        except UnknownMemory:
            raise NotFound("memory item on this path") from None
    return found


async def _depth(tx: ReadTx, parent: Floor, floor_id: str, index: int) -> int:
    covered = await tx.floor(floor_id)
    chain = await tx.chain(parent.session_id, parent.place)
    if (
        covered is None
        or covered.session_id != parent.session_id
        or covered.is_root
        or not on_path(chain, covered.place)
    ):
        raise invalid(f"effects.memory[{index}].covers_floor_id", "is no floor of this path")
    return await tx.prefix_depth(parent.session_id) + covered.place.depth


async def seal_floor(tx: WriteTx, env: Env, session: Session, floor: Floor, parent: Floor) -> Floor:
    """The floor as committed, with what its effects do besides: live values, and a copy of the state where
    one is due. The caller writes the floor in the same transaction.

    RESOURCE_EXHAUSTED `LIMIT` when the path's state or a live layer would be too large.
    """
    done = sealed(env, floor, parent)
    if done.effects is None:
        return done
    effects = effects_from(done.effects.blob)
    if due(done):
        done = await _with_copy(tx, done, effects, await path_state(tx, parent))
    for scope, owner_id in ((Scope.SESSION, session.session_id), (Scope.PROJECT, session.project_id)):
        values = {write.key: write.value_json for write in effects.variables if write.scope is scope}
        if values:
            await write_live(tx, owner_id, values, done.principal)
    return done


async def _with_copy(tx: WriteTx, floor: Floor, effects: Effects, above: State) -> Floor:
    assert floor.effects is not None
    state = apply(above, effects, origin_of(floor.floor_id, last_said(floor), floor.effects))
    text = state_text(state)
    if len(text) > MAX_STATE:
        raise Exhausted("LIMIT", "The state of a path takes at most 1 MiB: delete or deprecate some of it.")
    await tx.insert_state_copies(floor.session_id, {floor.floor_id: text})
    return replace(floor, mark=replace(floor.mark, debt=0, size=len(text)))


def last_said(floor: Floor) -> str:
    """The id of the last message of the page that effects come with: the output's, else the input's."""
    page = floor.output or floor.input
    return f"{page.page_id}.{len(page.content.facts) - 1}" if page else ""


async def write_live(tx: WriteTx, owner_id: str, values: dict[str, str | None], principal: str) -> int:
    """-> the layer's version from now on. LIMIT when the layer would be too large."""
    version = await tx.write_live(owner_id, values, principal)
    count, size = await tx.live_size(owner_id)
    if count > MAX_LIVE_VALUES or size > MAX_LIVE_SIZE:
        text = f"A session or a project has at most {MAX_LIVE_VALUES:,} live values, and 512 Ki characters."
        raise Exhausted("LIMIT", f"{text} Delete some first.")
    return version
