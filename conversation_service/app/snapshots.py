"""Snapshots for the draft service: what it reads once, and never again."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from conversation_service.app.projects import get_project
from kernel.errors import Exhausted, NotFound, invalid
from kernel.prompt.config import own_endpoints, size, without_endpoints
from kernel.state.model import EMPTY
from kernel.state.text import state_text
from kernel.tree.model import Floor, FloorOutline, FloorState
from kernel.verbs import configs
from kernel.verbs.copies import batches
from kernel.verbs.env import MAIN, Caller, Env, ReadTx, known_session
from kernel.verbs.pending import refuse_sealed
from kernel.verbs.queries import known_floor, path_end
from kernel.verbs.snapshots import Base, Snapshot, Versions
from kernel.verbs.state import path_state
from kernel.verbs.state_store import NO_LAYER, LiveLayer

MAX_BYTES = 64 * 1024 * 1024
# Of one message of the path; a floor that has more goes alone.
_CHUNK_FLOORS, _CHUNK_BYTES = 500, 1024 * 1024


@dataclass(frozen=True, slots=True)
class Source:
    """`project` as the caller wrote it, or a session; the other is empty. An empty floor is the head of
    `main`; with `reply`, path and state end at the floor's parent."""

    project: str = ""
    session_id: str = ""
    floor_id: str = ""
    history: bool = False
    reply: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot, and where the floors of its path are to be read."""

    snapshot: Snapshot
    end: Floor | None = None
    outlines: Sequence[FloorOutline] = ()


async def take_snapshot(env: Env, caller: Caller, source: Source) -> Taken:
    """One consistent read of all but the path's bodies, which never change. Where a model is asked, and with
    which key, stays here.

    NOT_FOUND; FAILED_PRECONDITION for a floor that no path ends at; SNAPSHOT_TOO_LARGE.
    """
    if not source.session_id:
        return await _of_project(env, caller, source.project)
    async with env.store.reading(caller.tenant_id) as tx:
        taken = await _of_session(tx, source)
    _refuse_too_large(taken)
    return taken


async def path_of(env: Env, caller: Caller, taken: Taken) -> AsyncIterator[list[Floor]]:
    """The floors of the path, the first one first, in pieces. Each is read by itself: nobody holds the
    database while a reader is slow. NOT_FOUND once the session is erased."""
    for first, last in batches(taken.outlines, _CHUNK_FLOORS, _CHUNK_BYTES):
        assert taken.end is not None
        async with env.store.reading(caller.tenant_id) as tx:
            floors = await tx.path(taken.end.session_id, taken.end.place, first, last)
        if len(floors) <= last - first:
            raise NotFound("session")
        yield floors


async def _of_project(env: Env, caller: Caller, name: str) -> Taken:
    project_id = (await get_project(env, caller, name)).project_id
    async with env.store.reading(caller.tenant_id) as tx:
        project = await tx.project(project_id)
        if project is None:
            raise NotFound("project")
        live = (await tx.live_layers(project_id))[project_id]
    found = configs.of_project(project)
    versions = Versions(found.version, f"project.{live.version}", project.version)
    return Taken(
        Snapshot(
            project_id,
            "",
            project.title,
            without_endpoints(found.config),
            versions,
            EMPTY,
            NO_LAYER,
            live,
            own_endpoints=own_endpoints(found.config),
        ),
    )


async def _of_session(tx: ReadTx, source: Source) -> Taken:
    session = await known_session(tx, source.session_id)
    named, end = await _ends(tx, source)
    found = await configs.of_session(tx, session)
    project = await tx.project(session.project_id)
    assert project is not None, "a session's project exists (foreign key)"
    layers = await tx.live_layers(session.session_id, session.project_id)
    own, shared = layers[session.session_id], layers[session.project_id]
    live_version = f"project.{shared.version}/session.{own.version}"
    outlines: Sequence[FloorOutline] = ()
    if source.history:
        outlines = await tx.path_outline(session.session_id, end.place, 1, end.place.depth)
    assert end.digest is not None
    snapshot = Snapshot(
        session.project_id,
        session.session_id,
        session.title,
        without_endpoints(found.config),
        Versions(found.version, live_version, project.version, session.version),
        await path_state(tx, end),
        own,
        shared,
        Base(end.floor_id, end.digest, end.place.depth, named.floor_id, end.path_tokens),
        named.input if source.reply else None,
        len(outlines),
        own_endpoints(found.config),
    )
    return Taken(snapshot, end, outlines)


async def _ends(tx: ReadTx, source: Source) -> tuple[Floor, Floor]:
    """The floor that is named, and the one that path and state end at."""
    if not source.reply:
        end = await path_end(tx, source.session_id, MAIN, source.floor_id)
        return end, end
    if not source.floor_id:
        named = await path_end(tx, source.session_id, MAIN, "")
    else:
        named = await known_floor(tx, source.floor_id, source.session_id)
    if named.is_root:
        raise invalid("floor_id", "is the root, which nothing is a reply to")
    if named.state is FloorState.FAILED:
        refuse_sealed(named)
    return named, await known_floor(tx, named.parent_floor_id or "")


def _refuse_too_large(taken: Taken) -> None:
    snapshot = taken.snapshot
    held = sum(outline.size for outline in taken.outlines) + size(snapshot.config)
    held += len(state_text(snapshot.state)) + _size(snapshot.session_live) + _size(snapshot.project_live)
    if snapshot.input is not None:
        held += len(snapshot.input.content.blob)
    if held > MAX_BYTES:
        raise Exhausted(
            "SNAPSHOT_TOO_LARGE",
            "The copy would exceed 64 MiB: start from an earlier floor, or leave out the history.",
        )


def _size(layer: LiveLayer) -> int:
    return sum(len(row.key) + len(row.value_json) for row in layer.values)
